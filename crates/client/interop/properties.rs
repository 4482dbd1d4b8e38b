//! Properties files in Java's words and in librdkafka's, on every listener of the broker.

use std::path::PathBuf;

use copart::Client;

use crate::{Failure, variable};

pub async fn all() -> Result<(), Failure> {
    let certificates = PathBuf::from(variable("COPART_CERTIFICATES")?);
    let path = |name: &str| certificates.join(name).display().to_string();
    let authority = std::fs::read_to_string(certificates.join("ca.pem"))?;
    let inline = authority.trim().replace('\n', "\\n\\\n  ");
    let mutual = "COPART_MTLS";
    let files = [
        (
            mutual,
            format!(
                "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={}\n\
                 ssl.keystore.type=PEM\nssl.keystore.location={}",
                path("ca.pem"),
                path("client.pem")
            ),
        ),
        (
            mutual,
            format!(
                "security.protocol=ssl\nssl.ca.location={}\nssl.certificate.location={}\n\
                 ssl.key.location={}",
                path("ca.pem"),
                path("client.crt"),
                path("client.key")
            ),
        ),
        (
            "COPART_SASL",
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=\
             org.apache.kafka.common.security.scram.ScramLoginModule required \\\n \
             username=\"ann\" password=\"secret\";"
                .to_owned(),
        ),
        (
            "COPART_SASL",
            "security.protocol=sasl_plaintext\nsasl.mechanisms=SCRAM-SHA-256\nsasl.username=ann\n\
             sasl.password=secret"
                .to_owned(),
        ),
        (
            "COPART_SASL",
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config=\
             org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
             unsecuredLoginStringClaim_sub=\"ann\";"
                .to_owned(),
        ),
        (
            "COPART_SASL",
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n\
             enable.sasl.oauthbearer.unsecure.jwt=true\nsasl.oauthbearer.config=principal=ann"
                .to_owned(),
        ),
        (
            "COPART_SASL_TLS",
            format!(
                "security.protocol=SASL_SSL\nssl.truststore.type=PEM\n\
                 ssl.truststore.certificates={inline}\nsasl.mechanism=PLAIN\nsasl.jaas.config=\
                 org.apache.kafka.common.security.plain.PlainLoginModule required \
                 username=\"ann\" password=\"secret\";"
            ),
        ),
    ];
    let count = files.len();
    for (listener, file) in files {
        let text = format!("bootstrap.servers={}\n{file}", variable(listener)?);
        let client = Client::from_properties(&text)?.connect().await;
        let client = client.map_err(|error| format!("{listener}: {error}\n{file}"))?;
        client.admin().describe_cluster().await?;
    }
    println!("properties: {count} files, of Java's keys and of librdkafka's");
    Ok(())
}
