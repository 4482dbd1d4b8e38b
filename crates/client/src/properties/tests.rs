//! Files as people have them.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::ErrorKind;

fn refusals(text: &str) -> String {
    match Properties::parse(text) {
        Ok(_) => panic!("taken: {text}"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Config);
            error.to_string()
        }
    }
}

const MINIMAL: &str = "bootstrap.servers=b1:9092\n";

#[test]
fn every_taken_key_is_looked_at() {
    let empty = BTreeMap::new();
    let mut reading = values::Values::new(&empty);
    client::read(&mut reading);
    producer::read(&mut reading);
    reader::read(&mut reading);
    consumer::read(&mut reading);
    assert!(reading.violations.is_empty(), "{:?}", reading.violations);
    let taken = table::all().filter(|key| key.treatment == Treatment::Taken);
    let taken: BTreeSet<_> = taken.map(|key| key.name).collect();
    assert_eq!(reading.seen, taken);
}

#[test]
fn files_of_java_and_librdkafka() {
    let java = "bootstrap.servers=b1:9092,b2:9092\nclient.id=shop\nacks=all\nlinger.ms=20\n\
                compression.type=zstd\ncompression.zstd.level=6\nkey.serializer=x.StringSerializer\n\
                max.request.size=2097152\nretries=2147483647\nreconnect.backoff.max.ms=10000\n\
                security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n\
                sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n  \
                username=\"ann\" password=\"s3cret\";\n";
    let properties = Properties::parse(java).expect("it is right");
    let without: Vec<_> = properties.without_effect().map(|key| key.name).collect();
    assert_eq!(without, ["key.serializer"]);
    assert!(properties.partitioning().is_none());
    let shown = format!("{properties:?}");
    assert!(
        shown.contains("sasl.jaas.config") && !shown.contains("s3cret"),
        "{shown}"
    );

    let librdkafka = "metadata.broker.list=b1:9092\npartitioner=murmur2_random\n\
                      queue.buffering.max.ms=0.5\nmessage.timeout.ms=60000\nlog_level=6\n\
                      security.protocol=sasl_plaintext\nsasl.mechanisms=SCRAM-SHA-512\n\
                      sasl.username=ann\nsasl.password=s3cret\n";
    let properties = Properties::parse(librdkafka).expect("it is right");
    let partitioning = format!("{:?}", properties.partitioning());
    assert!(partitioning.contains("murmur2"), "{partitioning}");
}

#[test]
fn all_that_is_wrong_is_told_at_once_and_no_secret_is() {
    let error = refusals(
        "bootstrap.server=b1:9092\nlinger.ms=soon\nacks=2\ncompression.type=brotli\n\
         sasl.mechanism=GSSAPI\nssl.keystore.type=JKS\nssl.key.password=s3cret\n\
         enable.idempotence=perhaps\ninterceptor.classes=a.B\nsasl.pasword=s3cret\nlinger.ms=7",
    );
    for hint in [
        "bootstrap.server: there is no such key; bootstrap.servers is near",
        "linger.ms: line 11 gives it a second time",
        "acks: is one of all, -1, 1, 0, not \"2\"",
        "compression.type: is one of none, gzip",
        "GSSAPI (Kerberos) is not supported",
        "ssl.keystore.type: JKS is not read",
        "ssl.key.password: keys are read without a password",
        "enable.idempotence: is true or false, not \"perhaps\"",
        "interceptor.classes: classes of Java's cannot run here",
        "sasl.pasword: there is no such key; sasl.password is near",
    ] {
        assert!(error.contains(hint), "{hint}: {error}");
    }
    assert!(!error.contains("s3cret"), "{error}");
}

#[test]
fn names_of_one_thing_must_agree() {
    let twice = refusals(&format!("{MINIMAL}linger.ms=5\nqueue.buffering.max.ms=6"));
    assert!(twice.contains("queue.buffering.max.ms: linger.ms says something else"));
    assert!(Properties::parse(&format!("{MINIMAL}acks=1\nrequest.required.acks=1")).is_ok());
    let ways = refusals(&format!(
        "{MINIMAL}buffer.memory=1\nqueue.buffering.max.kbytes=1"
    ));
    assert!(ways.contains("keep one"), "{ways}");
}

#[test]
fn logins() {
    let login = |mechanism: &str, jaas: &str| {
        format!(
            "{MINIMAL}security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n\
             sasl.jaas.config={jaas}"
        )
    };
    for (mechanism, jaas) in [
        (
            "PLAIN",
            "a.PlainLoginModule required username=u password=p;",
        ),
        (
            "SCRAM-SHA-256",
            "a.ScramLoginModule required username=u password=p;",
        ),
        (
            "OAUTHBEARER",
            "a.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=u \
             unsecuredLoginLifetimeSeconds=60;",
        ),
    ] {
        let properties = Properties::parse(&login(mechanism, jaas));
        assert!(properties.is_ok(), "{mechanism}: {properties:?}");
    }
    for (mechanism, jaas, hint) in [
        (
            "PLAIN",
            "a.ScramLoginModule required username=u password=p;",
            "does not go with",
        ),
        (
            "PLAIN",
            "a.PlainLoginModule required username=u;",
            "needs username",
        ),
        (
            "PLAIN",
            "a.PlainLoginModule required username=u password=p",
            "semicolon",
        ),
        ("PLAIN", "a.OtherLoginModule required;", "is not known"),
        (
            "GSSAPI",
            "com.sun.security.auth.module.Krb5LoginModule required;",
            "SCRAM-SHA-512",
        ),
        (
            "AWS_MSK_IAM",
            "software.amazon.msk.auth.iam.IAMLoginModule required;",
            "MSK",
        ),
        (
            "OAUTHBEARER",
            "a.OAuthBearerLoginModule required clientId=x;",
            "Sasl::oauthbearer",
        ),
        (
            "OAUTHBEARER",
            "a.OAuthBearerLoginModule required;",
            "unsecuredLoginStringClaim_sub",
        ),
    ] {
        let error = refusals(&login(mechanism, jaas));
        assert!(error.contains(hint), "{jaas}: {error}");
    }
    let nothing = refusals(&format!("{MINIMAL}security.protocol=SASL_SSL"));
    assert!(
        nothing.contains("sasl.mechanism: security.protocol asks for SASL"),
        "{nothing}"
    );
    let half = refusals(&format!(
        "{MINIMAL}security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=ann"
    ));
    assert!(half.contains("PLAIN needs both"), "{half}");
    let both = refusals(&format!(
        "{}\nsasl.username=ann",
        login(
            "PLAIN",
            "a.PlainLoginModule required username=u password=p;"
        )
    ));
    assert!(both.contains("keep one of the two ways"), "{both}");
    let unsecured = format!(
        "{MINIMAL}security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n\
         enable.sasl.oauthbearer.unsecure.jwt=true\n\
         sasl.oauthbearer.config=principal=ann lifeSeconds=60 extension_a=b"
    );
    assert!(Properties::parse(&unsecured).is_ok());
}

#[test]
fn stores_are_pem() {
    let tls = |more: &str| format!("{MINIMAL}security.protocol=SSL\n{more}");
    let pem = "-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----";
    for taken in [
        String::new(),
        "ssl.ca.location=probe".into(),
        format!("ssl.truststore.type=PEM\nssl.truststore.certificates={pem}"),
        format!("ssl.ca.pem={pem}\nssl.endpoint.identification.algorithm="),
        format!("ssl.certificate.pem={pem}\nssl.key.pem={pem}"),
    ] {
        assert!(Properties::parse(&tls(&taken)).is_ok(), "{taken}");
    }
    for (refused, hint) in [
        (
            "ssl.truststore.location=ca.jks",
            "unless ssl.truststore.type=PEM",
        ),
        ("ssl.truststore.type=PKCS12", "PKCS12 is not read"),
        (
            "ssl.keystore.location=client.p12",
            "unless ssl.keystore.type=PEM",
        ),
        ("ssl.ca.location=/no/such/file", "/no/such/file"),
        ("ssl.ca.location=probe\nssl.ca.pem=x", "keep one"),
        ("ssl.certificate.pem=x", "the key is missing"),
        ("ssl.key.pem=x", "the certificates are missing"),
        (
            "ssl.certificate.pem=x\nssl.key.pem=-----BEGIN ENCRYPTED PRIVATE KEY-----",
            "takes it off",
        ),
        (
            "enable.ssl.certificate.verification=false",
            "accept anybody",
        ),
        ("ssl.enabled.protocols=TLSv1.1", "not safe"),
        ("ssl.endpoint.identification.algorithm=ldaps", "https"),
    ] {
        let error = refusals(&tls(refused));
        assert!(error.contains(hint), "{refused}: {error}");
    }
    // Without TLS, nothing is read from files that need not be there.
    assert!(Properties::parse(&format!("{MINIMAL}ssl.ca.location=/no/such/file")).is_ok());
}

#[test]
fn partitioners_have_names_in_both_worlds() {
    let of = |line: &str| {
        let properties = Properties::parse(&format!("{MINIMAL}{line}"));
        format!("{:?}", properties.expect(line).partitioning())
    };
    let like = |name: &str| format!("{:?}", Partitioning::like(name).ok());
    let class = "org.apache.kafka.clients.producer.internals.DefaultPartitioner";
    assert_eq!(of(&format!("partitioner.class={class}")), like("java"));
    assert_eq!(
        of("partitioner=consistent_random"),
        like("consistent_random")
    );
    assert_eq!(of("partitioner=ruby-kafka"), like("ruby-kafka"));
    let uniform = format!("{:?}", Some(Partitioning::uniform()));
    assert_eq!(of("partitioner.ignore.keys=true"), uniform);
    assert_eq!(of("partitioner.class="), "None");
    let own = refusals(&format!("{MINIMAL}partitioner.class=com.shop.ByCustomer"));
    assert!(own.contains("com.shop.ByCustomer cannot run here"), "{own}");
    let typo = refusals(&format!("{MINIMAL}partitioner=murmur3"));
    assert!(typo.contains("partitioner: "), "{typo}");
}

#[tokio::test]
async fn settings_arrive_where_they_belong() {
    let build = |more: &str| {
        let properties = Properties::parse(&format!("{MINIMAL}{more}")).expect(more);
        let client = properties.client().connect_lazily()?;
        let builder = properties.configure(client.producer());
        builder.partitioner(Partitioning::manual()).build()
    };
    // What goes against idempotence turns it off, as in Java; asked for by name, it is a contradiction.
    assert!(build("acks=1").is_ok());
    assert!(build("max.in.flight.requests.per.connection=20").is_ok());
    let error = build("acks=1\nenable.idempotence=true").expect_err("a contradiction");
    assert!(error.reason().contains("idempotence"), "{error}");
    // Java's defaults and usual settings are no contradictions here.
    assert!(build("batch.size=0\nmax.request.size=1048576").is_ok());
    assert!(build("batch.size=5000000\nmax.request.size=100000").is_ok());
    assert!(build("max.request.size=100000").is_ok());
    let error = build("buffer.memory=1000").expect_err("too little");
    assert!(error.reason().contains("buffer memory"), "{error}");
    let client = Properties::parse("client.id=x")
        .expect("no violation yet")
        .client();
    let error = client.connect_lazily().expect_err("no address");
    assert!(error.reason().contains("bootstrap"), "{error}");
}

#[test]
fn consumers_of_java_and_librdkafka() {
    let java = "bootstrap.servers=b1:9092\ngroup.id=billing\nenable.auto.commit=true\n\
                auto.commit.interval.ms=1000\nsession.timeout.ms=10000\nmax.poll.interval.ms=60000\n\
                group.instance.id=one\nauto.offset.reset=latest\n\
                partition.assignment.strategy=org.apache.kafka.clients.consumer.RangeAssignor,\
                org.apache.kafka.clients.consumer.CooperativeStickyAssignor\n";
    let properties = Properties::parse(java).expect("it is right");
    assert_eq!(properties.group(), Some("billing"));
    assert_eq!(properties.without_effect().count(), 0);
    let shown = format!("{:?}", properties.consumer);
    for part in [
        "[Range, CooperativeSticky]",
        "Processed { every: 1s }",
        "Some(10s)",
    ] {
        assert!(shown.contains(part), "{shown}");
    }

    let librdkafka = "metadata.broker.list=b1:9092\ngroup.id=billing\ngroup.protocol=consumer\n\
                      group.remote.assignor=range\nenable.auto.commit=false\n\
                      partition.assignment.strategy=roundrobin\n";
    let properties = Properties::parse(librdkafka).expect("it is right");
    let shown = format!("{:?}", properties.consumer);
    for part in ["[RoundRobin]", "Some(Manual)", "Some(Consumer)"] {
        assert!(shown.contains(part), "{shown}");
    }

    let refused =
        refusals("bootstrap.servers=b1:9092\npartition.assignment.strategy=com.example.Mine\n");
    assert!(
        refused.contains("com.example.Mine") && refused.contains("cannot run here"),
        "{refused}"
    );
}
