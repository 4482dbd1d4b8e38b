//! A registry that keeps schemas, checks nothing, and can be told what to answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use copart_serializers::registry::Registry;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is answered in the place of the truth.
pub(crate) struct Reply {
    status: u16,
    body: String,
    kind: Kind,
}

enum Kind {
    Whole,
    CutOff,
    Endless,
}

impl Reply {
    pub(crate) fn new(status: u16, body: &str) -> Self {
        Self {
            status,
            body: body.to_owned(),
            kind: Kind::Whole,
        }
    }

    /// The connection ends before the answer does.
    pub(crate) fn cut_off() -> Self {
        Self {
            kind: Kind::CutOff,
            ..Self::new(200, "[")
        }
    }

    /// More than any schema.
    pub(crate) fn endless() -> Self {
        Self {
            kind: Kind::Endless,
            ..Self::new(200, "")
        }
    }
}

#[derive(Default)]
struct State {
    /// Subject and schema, as they were sent; the id is the place, from 1.
    schemas: Vec<(String, Value)>,
    replies: VecDeque<Reply>,
    requests: usize,
    last: String,
    authorization: Option<String>,
}

/// A registry on a port of its own.
pub(crate) struct Mock {
    state: Arc<Mutex<State>>,
    url: String,
}

impl Mock {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/base", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { state, url }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    pub(crate) fn registry(&self) -> Registry {
        Registry::builder(&self.url)
            .retries(2)
            .timeout(Duration::from_secs(20))
            .build()
            .expect("builds")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("not poisoned")
    }

    /// The next request is answered with this.
    pub(crate) fn reply(&self, reply: Reply) {
        self.state().replies.push_back(reply);
    }

    /// Method and path of the newest request.
    pub(crate) fn last(&self) -> String {
        self.state().last.clone()
    }

    pub(crate) fn requests(&self) -> usize {
        self.state().requests
    }

    pub(crate) fn authorization(&self) -> Option<String> {
        self.state().authorization.clone()
    }

    pub(crate) fn subjects(&self) -> Vec<String> {
        subjects(&self.state())
    }
}

fn subjects(state: &State) -> Vec<String> {
    let mut subjects: Vec<_> = state
        .schemas
        .iter()
        .map(|(subject, _)| subject.clone())
        .collect();
    subjects.sort();
    subjects.dedup();
    subjects
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let mut request = Vec::new();
    let (head, body) = loop {
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).into_owned();
            let length =
                header(&head, "content-length").map_or(0, |text| text.parse().expect("a length"));
            while request.len() < end + 4 + length {
                if stream.read_buf(&mut request).await? == 0 {
                    return Ok(());
                }
            }
            break (head, request.split_off(end + 4));
        }
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    };
    let reply = answer(&mut state.lock().expect("not poisoned"), &head, &body);
    let length = match reply.kind {
        Kind::Whole => reply.body.len(),
        Kind::CutOff => reply.body.len() + 1,
        Kind::Endless => 1 << 40,
    };
    let head = format!(
        "HTTP/1.1 {} x\r\ncontent-length: {length}\r\n\r\n",
        reply.status
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(reply.body.as_bytes()).await?;
    if matches!(reply.kind, Kind::Endless) {
        // Ends when the other side has had enough.
        loop {
            stream.write_all(&[b' '; 65_536]).await?;
        }
    }
    stream.shutdown().await
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (known, value) = line.split_once(':')?;
        known.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

fn answer(state: &mut State, head: &str, body: &[u8]) -> Reply {
    state.requests += 1;
    state.last = head.lines().next().unwrap_or_default().to_owned();
    state.authorization = header(head, "authorization").map(str::to_owned);
    if let Some(reply) = state.replies.pop_front() {
        return reply;
    }
    let mut line = head.split(' ');
    let method = line.next().expect("a method");
    let path = line
        .next()
        .expect("a path")
        .strip_prefix("/base")
        .expect("the prefix");
    let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
    let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let found = match (method, &parts[..]) {
        ("GET", ["subjects"]) => Some(json!(subjects(state))),
        ("GET", ["subjects", subject, "versions"]) => {
            let count = state
                .schemas
                .iter()
                .filter(|(known, _)| known == subject)
                .count();
            Some(json!((1..=count).collect::<Vec<_>>()))
        }
        ("GET", ["subjects", subject, "versions", version]) => {
            let ids = (0..state.schemas.len()).filter(|&place| state.schemas[place].0 == *subject);
            let ids: Vec<_> = ids.collect();
            let version = version.parse().unwrap_or(ids.len());
            ids.get(version.wrapping_sub(1))
                .map(|&place| described(state, place, version))
        }
        ("POST", ["subjects", subject, "versions"]) => {
            let known = state
                .schemas
                .iter()
                .position(|it| it.0 == *subject && it.1 == body);
            let place = known.unwrap_or_else(|| {
                state.schemas.push(((*subject).to_owned(), body));
                state.schemas.len() - 1
            });
            Some(json!({"id": place + 1}))
        }
        ("POST", ["subjects", subject]) => {
            let known = state
                .schemas
                .iter()
                .position(|it| it.0 == *subject && it.1 == body);
            known.map(|place| described(state, place, 1))
        }
        ("GET", ["schemas", "ids", id]) => {
            let place = id.parse::<usize>().expect("an id").wrapping_sub(1);
            (place < state.schemas.len()).then(|| described(state, place, 1))
        }
        ("GET", ["schemas", "guids", guid]) => (0..state.schemas.len())
            .find(|&place| self::guid(place) == *guid)
            .map(|place| described(state, place, 1)),
        _ => None,
    };
    match found {
        Some(found) => Reply::new(200, &found.to_string()),
        None => Reply::new(404, r#"{"error_code":40403,"message":"Schema not found"}"#),
    }
}

fn guid(place: usize) -> String {
    format!("00000000-0000-4000-8000-{place:012x}")
}

fn described(state: &State, place: usize, version: usize) -> Value {
    let (subject, schema) = &state.schemas[place];
    let mut described = schema.clone();
    described["subject"] = json!(subject);
    described["id"] = json!(place + 1);
    described["version"] = json!(version);
    described["guid"] = json!(guid(place));
    described
}
