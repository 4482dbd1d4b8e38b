//! The rules of a registry, through its interface.

mod avro;
mod delete;
mod hostile;
mod kinds;
mod settings;

use copart_registry::{Record, Request, Store};
use serde_json::{Value, json};

/// A registry whose records are kept, so that it can be made again of them.
#[derive(Default)]
pub(crate) struct Registry {
    store: Store,
    log: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Registry {
    /// Sends a request. Returns the status and the body.
    pub(crate) fn ask(&mut self, line: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.ask_bytes(line, body.as_bytes())
    }

    pub(crate) fn ask_bytes(&mut self, line: &str, body: &[u8]) -> (u16, Value) {
        let (method, target) = line.split_once(' ').expect("a method and a path");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let outcome = self.store.handle(&Request {
            method,
            path,
            query,
            body,
        });
        for record in outcome.records {
            self.log.push(record.encode().expect("it can be written"));
            self.store.apply(record);
        }
        let body = &outcome.answer.body;
        let body = serde_json::from_str(body).unwrap_or_else(|_| json!(body));
        (outcome.answer.status, body)
    }

    pub(crate) fn get(&mut self, target: &str) -> Value {
        let (status, body) = self.ask(&format!("GET {target}"), &Value::Null);
        assert_eq!(status, 200, "{target}: {body}");
        body
    }

    /// The error of a request that fails.
    pub(crate) fn error(&mut self, line: &str, body: &Value) -> u64 {
        let (status, body) = self.ask(line, body);
        let code = body["error_code"]
            .as_u64()
            .unwrap_or_else(|| panic!("{line}: {status} {body}"));
        let of_code = if code >= 10_000 { code / 100 } else { code };
        assert_eq!(u64::from(status), of_code, "{body}");
        assert!(body["message"].as_str().is_some_and(|it| !it.is_empty()));
        code
    }

    /// Registers an Avro schema. Returns its id.
    pub(crate) fn register(&mut self, subject: &str, schema: &Value) -> u64 {
        let line = format!("POST /subjects/{subject}/versions");
        let (status, body) = self.ask(&line, &json!({"schema": schema.to_string()}));
        assert_eq!(status, 200, "{body}");
        body["id"].as_u64().expect("an id")
    }

    /// The registry that a restart makes of the records.
    pub(crate) fn restarted(&self) -> Self {
        let mut store = Store::default();
        for (key, value) in &self.log {
            let record = Record::decode(key, value.as_deref()).expect("it can be read");
            store.apply(record.expect("it is of use"));
        }
        Self {
            store,
            log: self.log.clone(),
        }
    }
}

/// A record with these fields, as JSON.
pub(crate) fn record(name: &str, fields: Value) -> Value {
    json!({"type": "record", "name": name, "fields": fields})
}

pub(crate) fn sent(schema: &Value) -> Value {
    json!({"schema": schema.to_string()})
}
