//! TLS and SASL.

use super::PropertyClients::{Both, Java, Librdkafka};
use super::{PropertyKey, refused, taken, without_effect};

pub(super) const KEYS: &[PropertyKey] = &[
    taken(
        "enable.sasl.oauthbearer.unsecure.jwt",
        Librdkafka,
        "true allows unsecured tokens, for development",
    ),
    taken(
        "enable.ssl.certificate.verification",
        Librdkafka,
        "true; false is refused: it would accept anybody as a broker",
    ),
    without_effect(
        "https.ca.location",
        Librdkafka,
        "nothing is fetched over HTTPS",
    ),
    without_effect("https.ca.pem", Librdkafka, "nothing is fetched over HTTPS"),
    refused(
        "sasl.client.callback.handler.class",
        Java,
        "classes of Java's cannot run here: for Amazon MSK use SCRAM, or a token of its OAUTHBEARER signer with `Sasl::oauthbearer`",
    ),
    taken(
        "sasl.jaas.config",
        Java,
        "user and password, or the claims of unsecured tokens: see below",
    )
    .secret(),
    refused(
        "sasl.kerberos.keytab",
        Librdkafka,
        "GSSAPI (Kerberos) is not supported: use SCRAM or OAUTHBEARER",
    ),
    refused(
        "sasl.kerberos.kinit.cmd",
        Java,
        "GSSAPI (Kerberos) is not supported: use SCRAM or OAUTHBEARER",
    ),
    refused(
        "sasl.kerberos.min.time.before.relogin",
        Java,
        "GSSAPI (Kerberos) is not supported: use SCRAM or OAUTHBEARER",
    ),
    refused(
        "sasl.kerberos.principal",
        Librdkafka,
        "GSSAPI (Kerberos) is not supported: use SCRAM or OAUTHBEARER",
    ),
    refused(
        "sasl.kerberos.service.name",
        Both,
        "GSSAPI (Kerberos) is not supported: use SCRAM or OAUTHBEARER",
    ),
    refused(
        "sasl.kerberos.ticket.renew.jitter",
        Java,
        "GSSAPI (Kerberos) is not supported: use SCRAM or OAUTHBEARER",
    ),
    refused(
        "sasl.kerberos.ticket.renew.window.factor",
        Java,
        "GSSAPI (Kerberos) is not supported: use SCRAM or OAUTHBEARER",
    ),
    refused(
        "sasl.login.callback.handler.class",
        Java,
        "classes of Java's cannot run here: `Sasl::oauthbearer` takes a function that returns a token",
    ),
    refused(
        "sasl.login.class",
        Java,
        "classes of Java's cannot run here: `Sasl` in code has the mechanisms",
    ),
    without_effect(
        "sasl.login.connect.timeout.ms",
        Java,
        "part of the time to connect",
    ),
    without_effect(
        "sasl.login.read.timeout.ms",
        Java,
        "part of the time to connect",
    ),
    without_effect(
        "sasl.login.refresh.buffer.seconds",
        Java,
        "a token is asked for when a session is about to end",
    ),
    without_effect(
        "sasl.login.refresh.min.period.seconds",
        Java,
        "a token is asked for when a session is about to end",
    ),
    without_effect(
        "sasl.login.refresh.window.factor",
        Java,
        "a token is asked for when a session is about to end",
    ),
    without_effect(
        "sasl.login.refresh.window.jitter",
        Java,
        "a token is asked for when a session is about to end",
    ),
    without_effect(
        "sasl.login.retry.backoff.max.ms",
        Java,
        "`reconnect.backoff.max.ms` is the longest wait between tries",
    ),
    without_effect(
        "sasl.login.retry.backoff.ms",
        Java,
        "`reconnect.backoff.ms` is the wait between tries",
    ),
    taken(
        "sasl.mechanism",
        Both,
        "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER",
    ),
    taken(
        "sasl.mechanisms",
        Librdkafka,
        "the same as `sasl.mechanism`",
    ),
    refused(
        "sasl.oauthbearer.client.id",
        Librdkafka,
        "tokens are fetched in code: `Sasl::oauthbearer` takes a function that returns one",
    ),
    refused(
        "sasl.oauthbearer.client.secret",
        Librdkafka,
        "tokens are fetched in code: `Sasl::oauthbearer` takes a function that returns one",
    )
    .secret(),
    taken(
        "sasl.oauthbearer.config",
        Librdkafka,
        "the claims of unsecured tokens: `principal=…`, `lifeSeconds=…`, `extension_…=…`",
    )
    .secret(),
    refused(
        "sasl.oauthbearer.extensions",
        Librdkafka,
        "tokens are fetched in code: `Sasl::oauthbearer` takes a function that returns one",
    ),
    taken(
        "sasl.oauthbearer.method",
        Both,
        "default; oidc is refused: tokens are fetched in code (`Sasl::oauthbearer`)",
    ),
    refused(
        "sasl.oauthbearer.scope",
        Both,
        "tokens are fetched in code: `Sasl::oauthbearer` takes a function that returns one",
    ),
    refused(
        "sasl.oauthbearer.token.endpoint.url",
        Both,
        "tokens are fetched in code: `Sasl::oauthbearer` takes a function that returns one",
    ),
    taken(
        "sasl.password",
        Librdkafka,
        "the password, for PLAIN and SCRAM",
    )
    .secret(),
    taken("sasl.username", Librdkafka, "the user, for PLAIN and SCRAM"),
    refused(
        "security.providers",
        Java,
        "classes of Java's cannot run here: leave it out",
    ),
    without_effect(
        "ssl.ca.certificate.stores",
        Librdkafka,
        "the system's certificate authorities are those of its default store",
    ),
    taken(
        "ssl.ca.location",
        Librdkafka,
        "a PEM file of certificate authorities, or `probe` for those of the system",
    ),
    taken(
        "ssl.ca.pem",
        Librdkafka,
        "certificate authorities as PEM, in the file itself",
    ),
    taken(
        "ssl.certificate.location",
        Librdkafka,
        "a PEM file with the client's certificates",
    ),
    taken(
        "ssl.certificate.pem",
        Librdkafka,
        "the client's certificates as PEM, in the file itself",
    ),
    refused(
        "ssl.cipher.suites",
        Librdkafka,
        "rustls chooses among safe suites: leave it out, or give a rustls configuration in code (`Tls::with_config`)",
    ),
    refused(
        "ssl.crl.location",
        Librdkafka,
        "revocation lists are not looked at: give a rustls configuration in code (`Tls::with_config`)",
    ),
    refused(
        "ssl.curves.list",
        Librdkafka,
        "rustls chooses among safe curves: leave it out, or give a rustls configuration in code (`Tls::with_config`)",
    ),
    taken(
        "ssl.enabled.protocols",
        Java,
        "has to have TLSv1.3 or TLSv1.2 in it",
    ),
    taken(
        "ssl.endpoint.identification.algorithm",
        Both,
        "https, or empty (Java) or none (librdkafka) to accept any host name",
    ),
    refused(
        "ssl.engine.factory.class",
        Java,
        "classes of Java's cannot run here: give a rustls configuration in code (`Tls::with_config`)",
    ),
    refused(
        "ssl.engine.id",
        Librdkafka,
        "OpenSSL's engines cannot run here",
    ),
    refused(
        "ssl.engine.location",
        Librdkafka,
        "OpenSSL's engines cannot run here",
    ),
    taken(
        "ssl.key.location",
        Librdkafka,
        "a PEM file with the client's key",
    ),
    refused(
        "ssl.key.password",
        Both,
        "keys are read without a password: `openssl pkcs8 -in KEY -out PLAIN` takes it off",
    )
    .secret(),
    taken(
        "ssl.key.pem",
        Librdkafka,
        "the client's key as PEM, in the file itself",
    )
    .secret(),
    without_effect("ssl.keymanager.algorithm", Java, "TLS is by rustls"),
    taken(
        "ssl.keystore.certificate.chain",
        Java,
        "the client's certificates as PEM, in the file itself",
    ),
    taken(
        "ssl.keystore.key",
        Java,
        "the client's key as PEM, in the file itself",
    )
    .secret(),
    taken(
        "ssl.keystore.location",
        Both,
        "a PEM file with the client's key and certificates; librdkafka's PKCS12 file is refused",
    ),
    refused(
        "ssl.keystore.password",
        Both,
        "PEM has no password for the store: convert the store, and leave it out",
    )
    .secret(),
    taken(
        "ssl.keystore.type",
        Java,
        "PEM; Java's default, JKS, is refused: see below",
    ),
    without_effect(
        "ssl.protocol",
        Java,
        "TLS 1.3 or 1.2, whichever the broker has",
    ),
    without_effect("ssl.provider", Java, "TLS is by rustls"),
    refused(
        "ssl.providers",
        Librdkafka,
        "OpenSSL's providers cannot run here",
    ),
    without_effect(
        "ssl.secure.random.implementation",
        Java,
        "the operating system gives random numbers",
    ),
    refused(
        "ssl.sigalgs.list",
        Librdkafka,
        "rustls chooses among safe algorithms: leave it out, or give a rustls configuration in code (`Tls::with_config`)",
    ),
    without_effect("ssl.trustmanager.algorithm", Java, "TLS is by rustls"),
    taken(
        "ssl.truststore.certificates",
        Java,
        "certificate authorities as PEM, in the file itself",
    ),
    taken(
        "ssl.truststore.location",
        Java,
        "a PEM file of certificate authorities",
    ),
    refused(
        "ssl.truststore.password",
        Java,
        "a PEM file of certificates has no password: leave it out",
    )
    .secret(),
    taken(
        "ssl.truststore.type",
        Java,
        "PEM; Java's default, JKS, is refused: see below",
    ),
];
