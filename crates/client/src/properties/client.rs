//! What a client takes from properties.

use std::time::Duration;

use super::values::Values;
use super::{sasl, tls};
use crate::{Backoff, ClientBuilder, Sasl};

/// Checked settings.
#[derive(Clone, Default)]
pub(super) struct ClientSettings {
    bootstrap: String,
    client_id: Option<String>,
    rack: Option<String>,
    tls: Option<tls::TlsSettings>,
    sasl: Option<Sasl>,
    request_timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
    metadata_max_age: Option<Duration>,
    metadata_max_idle: Option<Duration>,
    retry_backoff: Option<Backoff>,
    reconnect_backoff: Option<Backoff>,
    allow_auto_create: Option<bool>,
    max_response: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Plaintext,
    Ssl,
    SaslPlaintext,
    SaslSsl,
}

pub(super) fn read(values: &mut Values<'_>) -> ClientSettings {
    let protocol = values
        .choice(
            &["security.protocol"],
            &[
                ("PLAINTEXT", Protocol::Plaintext),
                ("SSL", Protocol::Ssl),
                ("SASL_PLAINTEXT", Protocol::SaslPlaintext),
                ("SASL_SSL", Protocol::SaslSsl),
            ],
        )
        .unwrap_or(Protocol::Plaintext);
    let needs_tls = matches!(protocol, Protocol::Ssl | Protocol::SaslSsl);
    let needs_sasl = matches!(protocol, Protocol::SaslPlaintext | Protocol::SaslSsl);
    let tls = tls::read(values, needs_tls);
    let sasl = sasl::read(values, needs_sasl);
    if needs_tls && cfg!(not(feature = "tls")) {
        values.refuse(
            "security.protocol",
            "copart is built without its feature `tls`",
        );
    }
    let bootstrap = values.filled(&["bootstrap.servers", "metadata.broker.list"]);
    let client_id = values.filled(&["client.id"]);
    let rack = values.filled(&["client.rack"]);
    ClientSettings {
        bootstrap: bootstrap.map_or_else(String::new, |(_, list)| list.to_owned()),
        client_id: client_id.map(|(_, id)| id.to_owned()),
        rack: rack.map(|(_, rack)| rack.to_owned()),
        tls: Some(tls).filter(|_| needs_tls),
        sasl: sasl.filter(|_| needs_sasl),
        request_timeout: values.milliseconds(&["request.timeout.ms", "socket.timeout.ms"]),
        connect_timeout: values.milliseconds(&["socket.connection.setup.timeout.ms"]),
        metadata_max_age: values
            .milliseconds(&["metadata.max.age.ms", "topic.metadata.refresh.interval.ms"]),
        metadata_max_idle: values.milliseconds(&["metadata.max.idle.ms"]),
        retry_backoff: backoff(
            values,
            ["retry.backoff.ms", "retry.backoff.max.ms"],
            [100, 1000],
        ),
        reconnect_backoff: backoff(
            values,
            ["reconnect.backoff.ms", "reconnect.backoff.max.ms"],
            [50, 1000],
        ),
        allow_auto_create: values.flag(&["allow.auto.create.topics"]),
        max_response: values.bytes(&["receive.message.max.bytes"]),
    }
}

fn backoff(
    values: &mut Values<'_>,
    [first, max]: [&'static str; 2],
    defaults: [u64; 2],
) -> Option<Backoff> {
    let given = [values.milliseconds(&[first]), values.milliseconds(&[max])];
    if given == [None, None] {
        return None;
    }
    // A file that sets one of the two means it: the other one gives way.
    let [default_first, default_max] = defaults.map(Duration::from_millis);
    let first = given[0].unwrap_or_else(|| default_first.min(given[1].unwrap_or(default_first)));
    let max = given[1].unwrap_or_else(|| default_max.max(first));
    Some(Backoff::new(first, max))
}

impl ClientSettings {
    pub(super) fn builder(&self) -> ClientBuilder {
        let mut builder = crate::Client::builder(self.bootstrap.as_str());
        if let Some(id) = &self.client_id {
            builder = builder.client_id(id.as_str());
        }
        #[cfg(feature = "tls")]
        if let Some(settings) = &self.tls {
            let mut tls = match &settings.roots {
                Some(pem) => crate::Tls::with_roots_pem(pem.clone()),
                None => crate::Tls::system_roots(),
            };
            if let Some((chain, key)) = &settings.identity {
                tls = tls.client_certificate_pem(chain.clone(), key.clone());
            }
            if settings.any_host_name {
                tls = tls.accept_any_host_name();
            }
            builder = builder.tls(tls);
        }
        if let Some(sasl) = &self.sasl {
            builder = builder.sasl(sasl.clone());
        }
        if let Some(timeout) = self.request_timeout {
            builder = builder.request_timeout(timeout);
        }
        if let Some(timeout) = self.connect_timeout {
            builder = builder.connect_timeout(timeout);
        }
        if let Some(age) = self.metadata_max_age {
            builder = builder.metadata_max_age(age);
        }
        if let Some(idle) = self.metadata_max_idle {
            builder = builder.metadata_max_idle(idle);
        }
        if let Some(rack) = &self.rack {
            builder = builder.rack(rack.as_str());
        }
        if let Some(backoff) = self.retry_backoff {
            builder = builder.retry_backoff(backoff);
        }
        if let Some(backoff) = self.reconnect_backoff {
            builder = builder.reconnect_backoff(backoff);
        }
        if let Some(allow) = self.allow_auto_create {
            builder = builder.allow_auto_create_topics(allow);
        }
        if let Some(bytes) = self.max_response {
            builder = builder.max_response_size(bytes);
        }
        builder
    }

    pub(super) fn retry_backoff(&self) -> Option<Backoff> {
        self.retry_backoff
    }
}
