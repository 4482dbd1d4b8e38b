//! TLS, mutual TLS and SASL, and what is said when the two ends disagree on them.

use std::time::{Duration, Instant};

use copart::{
    BoxFuture, Client, ClientBuilder, ErrorKind, Partitioning, ProducerRecord, Sasl, Tls, Token,
};

use crate::{Failure, create_topic, variable};

pub async fn all() -> Result<(), Failure> {
    let directory = variable("COPART_CERTIFICATES")?;
    let file = |name: &str| std::fs::read(format!("{directory}/{name}"));
    let (plain, tls, mtls) = (
        variable("COPART_PLAIN")?,
        variable("COPART_TLS")?,
        variable("COPART_MTLS")?,
    );
    let (sasl, sasl_tls) = (variable("COPART_SASL")?, variable("COPART_SASL_TLS")?);
    let trusted = Tls::with_roots_pem(file("ca.pem")?);
    let identified = trusted
        .clone()
        .client_certificate_pem(file("client.crt")?, file("client.key")?);

    create_topic(&client(&plain).connect().await?, "secure", 1).await?;
    works("TLS", client(&tls).tls(trusted.clone())).await?;
    works("mutual TLS", client(&mtls).tls(identified)).await?;
    for mechanism in [
        Sasl::plain("ann", "secret"),
        Sasl::scram_sha256("ann", "secret"),
        Sasl::scram_sha512("ann", "secret"),
        Sasl::oauthbearer(unsecured_token),
    ] {
        works(mechanism.mechanism(), client(&sasl).sasl(mechanism)).await?;
    }
    let both = client(&sasl_tls).tls(trusted.clone());
    works("PLAIN over TLS", both.sasl(Sasl::plain("ann", "secret"))).await?;
    session_outlives_its_lifetime(client(&sasl).sasl(Sasl::scram_sha256("ann", "secret"))).await?;

    let wrong = [
        ("plaintext to TLS", client(&tls), ErrorKind::Protocol, "TLS"),
        (
            "TLS to plaintext",
            client(&plain).tls(trusted.clone()),
            ErrorKind::Connect,
            "plaintext",
        ),
        (
            "unknown authority",
            client(&tls).tls(Tls::system_roots()),
            ErrorKind::Connect,
            "root",
        ),
        (
            "no certificate",
            client(&mtls).tls(trusted),
            ErrorKind::Connect,
            "",
        ),
        ("no SASL", client(&sasl), ErrorKind::Disconnected, "SASL"),
        (
            "wrong password",
            client(&sasl).sasl(Sasl::scram_sha512("ann", "guess")),
            ErrorKind::Authentication,
            "",
        ),
        (
            "wrong PLAIN password",
            client(&sasl).sasl(Sasl::plain("ann", "guess")),
            ErrorKind::Authentication,
            "",
        ),
        (
            "mechanism that is not enabled",
            client(&sasl_tls)
                .tls(Tls::with_roots_pem(file("ca.pem")?))
                .sasl(Sasl::scram_sha512("ann", "secret")),
            ErrorKind::Authentication,
            "",
        ),
    ];
    for (what, builder, kind, hint) in wrong {
        let start = Instant::now();
        let error = builder.connect().await.expect_err(what);
        println!("{what}: {error}");
        let known = error.kind() == kind || what == "no certificate";
        assert!(known, "{what}: {error:?}");
        assert!(error.to_string().contains(hint), "{what}: {error}");
        assert!(start.elapsed() < Duration::from_secs(7), "{what}");
    }
    Ok(())
}

fn client(bootstrap: &str) -> ClientBuilder {
    Client::builder(bootstrap).connect_timeout(Duration::from_secs(5))
}

async fn works(what: &str, builder: ClientBuilder) -> Result<(), Failure> {
    let client = builder
        .connect()
        .await
        .map_err(|error| format!("{what}: {error}"))?;
    let producer = client
        .producer()
        .partitioner(Partitioning::uniform())
        .build()?;
    let receipt = producer
        .send(ProducerRecord::to("secure").value(what))
        .await?;
    println!("{what}: offset {:?}", receipt.offset);
    Ok(())
}

/// The broker ends sessions after four seconds that were not renewed (KIP-368).
async fn session_outlives_its_lifetime(builder: ClientBuilder) -> Result<(), Failure> {
    let client = builder.connect().await?;
    let producer = client
        .producer()
        .partitioner(Partitioning::uniform())
        // A connection that the broker ends would show as a retry; without retries, as an error.
        .delivery_timeout(Duration::from_secs(5))
        .build()?;
    let start = Instant::now();
    let mut sent = 0;
    while start.elapsed() < Duration::from_secs(10) {
        producer
            .send(ProducerRecord::to("secure").value("again"))
            .await?;
        sent += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    println!("re-authentication: {sent} records over ten seconds, with sessions of four");
    Ok(())
}

/// A token without a signature, which Kafka takes where nothing better is configured.
fn unsecured_token() -> BoxFuture<'static, Result<Token, Box<dyn std::error::Error + Send + Sync>>>
{
    Box::pin(async {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)?
            .as_secs();
        let encode = |text: &str| data_encoding::BASE64URL_NOPAD.encode(text.as_bytes());
        let claims = format!(r#"{{"sub":"ann","iat":{now},"exp":{}}}"#, now + 3600);
        Ok(Token::new(format!(
            "{}.{}.",
            encode(r#"{"alg":"none"}"#),
            encode(&claims)
        )))
    })
}
