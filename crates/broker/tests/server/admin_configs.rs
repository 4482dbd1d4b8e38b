//! Settings, as admin clients look them up and change them.

use copart_broker::Broker;
use copart_protocol::ErrorCode;
use copart_protocol::messages::alter_configs::{self, AlterConfigsRequest};
use copart_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
    DescribeConfigsResult,
};
use copart_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use copart_protocol::messages::list_config_resources::ListConfigResourcesRequest;

use super::client::{Client, batch};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const BROKER_LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

async fn start() -> (Broker, Client) {
    let builder = Broker::builder()
        .topic("t", 1)
        .config("num.partitions", "3");
    let broker = builder.start().await.expect("starts");
    let client = Client::to(&broker, 1).await;
    (broker, client)
}

fn describe(resource_type: i8, name: &str, keys: Option<&[&str]>) -> DescribeConfigsRequest {
    DescribeConfigsRequest {
        resources: vec![DescribeConfigsResource {
            resource_type,
            resource_name: name.to_owned(),
            configuration_keys: keys.map(|keys| keys.iter().map(|&it| it.to_owned()).collect()),
        }],
        include_synonyms: true,
        include_documentation: false,
    }
}

async fn described(
    client: &mut Client,
    version: i16,
    request: &DescribeConfigsRequest,
) -> DescribeConfigsResult {
    client.call(version, request).await.results.remove(0)
}

fn find<'a>(result: &'a DescribeConfigsResult, name: &str) -> &'a DescribeConfigsResourceResult {
    let found = result.configs.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("{name} is not there"))
}

fn change(
    resource_type: i8,
    name: &str,
    op: i8,
    key: &str,
    value: Option<&str>,
) -> IncrementalAlterConfigsRequest {
    IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type,
            resource_name: name.to_owned(),
            configs: vec![AlterableConfig {
                name: key.to_owned(),
                config_operation: op,
                value: value.map(str::to_owned),
            }],
        }],
        validate_only: false,
    }
}

async fn changed(client: &mut Client, request: &IncrementalAlterConfigsRequest) -> ErrorCode {
    let response = client.call(1, request).await;
    let result = &response.responses[0];
    assert_eq!(result.error_message.is_none(), result.error_code.is_none());
    result.error_code
}

#[tokio::test]
async fn topics_are_described_in_every_version() {
    let (_broker, mut client) = start().await;
    for version in 1..=4 {
        let mut request = describe(TOPIC, "t", None);
        request.include_documentation = version >= 3;
        let result = described(&mut client, version, &request).await;
        assert_eq!(result.error_code, ErrorCode::NONE);
        let retention = find(&result, "retention.ms");
        assert_eq!(retention.value.as_deref(), Some("604800000"));
        assert_eq!((retention.config_source, retention.read_only), (5, false));
        assert_eq!(retention.synonyms[0].name, "log.retention.hours");
        if version >= 3 {
            assert_eq!(retention.config_type, 5);
            assert!(retention.documentation.is_some());
        }
    }
    let request = describe(TOPIC, "t", Some(&["retention.ms", "no.such"]));
    let result = described(&mut client, 4, &request).await;
    assert_eq!(result.configs.len(), 1);
    assert_eq!(result.configs[0].documentation, None);
    let mut plain = describe(TOPIC, "t", None);
    plain.include_synonyms = false;
    let result = described(&mut client, 4, &plain).await;
    assert!(result.configs.iter().all(|it| it.synonyms.is_empty()));
    for (name, code) in [
        ("no", ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        ("n o", ErrorCode::INVALID_TOPIC_EXCEPTION),
    ] {
        let result = described(&mut client, 4, &describe(TOPIC, name, None)).await;
        assert_eq!(result.error_code, code);
        assert_eq!(result.resource_name, name);
        assert!(result.error_message.is_some());
    }
}

#[tokio::test]
async fn brokers_say_what_clients_look_up() {
    let (broker, mut client) = start().await;
    let result = described(&mut client, 4, &describe(BROKER, "1", None)).await;
    assert_eq!(result.error_code, ErrorCode::NONE);
    let partitions = find(&result, "num.partitions");
    assert_eq!(partitions.value.as_deref(), Some("3"));
    assert_eq!((partitions.config_source, partitions.read_only), (4, true));
    let factor = find(&result, "default.replication.factor");
    assert_eq!(factor.value.as_deref(), Some("1"));
    let advertised = find(&result, "advertised.listeners");
    let address = format!("PLAINTEXT://{}", broker.bootstrap());
    assert_eq!(advertised.value.as_deref(), Some(address.as_str()));
    let simulated = find(&result, "copart.replication.simulated");
    assert_eq!(simulated.value.as_deref(), Some("true"));
    assert!(simulated.read_only);
    let retention = find(&result, "log.retention.hours");
    assert_eq!(retention.value.as_deref(), Some("168"));

    let nothing_set = described(&mut client, 4, &describe(BROKER, "", None)).await;
    assert_eq!(
        (nothing_set.error_code, nothing_set.configs.len()),
        (ErrorCode::NONE, 0)
    );
    for (kind, name, code) in [
        (BROKER, "9", ErrorCode::BROKER_ID_NOT_REGISTERED),
        (BROKER, "x", ErrorCode::INVALID_REQUEST),
        (BROKER_LOGGER, "1", ErrorCode::NONE),
        (BROKER_LOGGER, "", ErrorCode::INVALID_REQUEST),
        (CLIENT_METRICS, "m", ErrorCode::INVALID_REQUEST),
        (GROUP, "", ErrorCode::INVALID_REQUEST),
        (77, "x", ErrorCode::INVALID_REQUEST),
    ] {
        let result = described(&mut client, 4, &describe(kind, name, None)).await;
        assert_eq!(result.error_code, code, "{kind} {name:?}");
    }
}

#[tokio::test]
async fn a_changed_setting_counts_at_once() {
    let (_broker, mut client) = start().await;
    let large = "x".repeat(5000);
    let produced = client.produce("t", 0, batch(&[&large])).await;
    assert_eq!(produced.error_code, ErrorCode::NONE);
    let request = change(TOPIC, "t", 0, "max.message.bytes", Some("1000"));
    assert_eq!(changed(&mut client, &request).await, ErrorCode::NONE);
    let refused = client.produce("t", 0, batch(&[&large])).await;
    assert_eq!(refused.error_code, ErrorCode::MESSAGE_TOO_LARGE);
    let request = change(TOPIC, "t", 1, "max.message.bytes", None);
    assert_eq!(changed(&mut client, &request).await, ErrorCode::NONE);
    let produced = client.produce("t", 0, batch(&[&large])).await;
    assert_eq!(produced.error_code, ErrorCode::NONE);
    // The same, by the broker's default.
    let request = change(BROKER, "", 0, "message.max.bytes", Some("1000"));
    assert_eq!(changed(&mut client, &request).await, ErrorCode::NONE);
    let refused = client.produce("t", 0, batch(&[&large])).await;
    assert_eq!(refused.error_code, ErrorCode::MESSAGE_TOO_LARGE);
    let result = described(&mut client, 4, &describe(TOPIC, "t", None)).await;
    assert_eq!(find(&result, "max.message.bytes").config_source, 3);
    // With two replicas wanted in sync, one is not enough.
    let request = change(TOPIC, "t", 0, "min.insync.replicas", Some("2"));
    assert_eq!(changed(&mut client, &request).await, ErrorCode::NONE);
    let refused = client.produce("t", 0, batch(&["a"])).await;
    assert_eq!(refused.error_code, ErrorCode::NOT_ENOUGH_REPLICAS);
}

#[tokio::test]
async fn changes_that_are_refused() {
    let (_broker, mut client) = start().await;
    for (kind, name, op, key, value, code) in [
        (
            TOPIC,
            "t",
            0,
            "no.such",
            Some("1"),
            ErrorCode::INVALID_CONFIG,
        ),
        (
            TOPIC,
            "t",
            0,
            "retention.ms",
            None,
            ErrorCode::INVALID_REQUEST,
        ),
        (
            TOPIC,
            "t",
            9,
            "retention.ms",
            Some("1"),
            ErrorCode::INVALID_REQUEST,
        ),
        (
            TOPIC,
            "t",
            2,
            "retention.ms",
            Some("1"),
            ErrorCode::INVALID_CONFIG,
        ),
        (
            TOPIC,
            "t",
            0,
            "remote.storage.enable",
            Some("true"),
            ErrorCode::INVALID_CONFIG,
        ),
        (
            TOPIC,
            "no",
            0,
            "retention.ms",
            Some("1"),
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ),
        (
            BROKER,
            "1",
            0,
            "num.partitions",
            Some("1"),
            ErrorCode::INVALID_CONFIG,
        ),
        (
            BROKER,
            "9",
            0,
            "log.retention.ms",
            Some("1"),
            ErrorCode::BROKER_ID_NOT_REGISTERED,
        ),
        (
            BROKER_LOGGER,
            "1",
            0,
            "root",
            Some("DEBUG"),
            ErrorCode::INVALID_REQUEST,
        ),
        (
            CLIENT_METRICS,
            "m",
            0,
            "interval.ms",
            Some("1"),
            ErrorCode::INVALID_REQUEST,
        ),
        (
            GROUP,
            "g",
            0,
            "no.such",
            Some("1"),
            ErrorCode::INVALID_CONFIG,
        ),
    ] {
        let request = change(kind, name, op, key, value);
        assert_eq!(
            changed(&mut client, &request).await,
            code,
            "{kind} {name} {key}"
        );
    }
    let mut twice = change(TOPIC, "t", 0, "retention.ms", Some("1"));
    twice.resources.push(twice.resources[0].clone());
    let response = client.call(0, &twice).await;
    let codes: Vec<ErrorCode> = response.responses.iter().map(|it| it.error_code).collect();
    assert_eq!(codes, [ErrorCode::INVALID_REQUEST; 2]);
    let mut dry = change(TOPIC, "t", 0, "retention.ms", Some("1"));
    dry.validate_only = true;
    assert_eq!(changed(&mut client, &dry).await, ErrorCode::NONE);
    let result = described(&mut client, 4, &describe(TOPIC, "t", None)).await;
    assert_eq!(find(&result, "retention.ms").config_source, 5);
}

#[tokio::test]
async fn the_old_call_replaces_everything_in_every_version() {
    let (_broker, mut client) = start().await;
    for version in 0..=2 {
        let request = change(TOPIC, "t", 0, "retention.ms", Some("5"));
        assert_eq!(changed(&mut client, &request).await, ErrorCode::NONE);
        let request = AlterConfigsRequest {
            resources: vec![alter_configs::AlterConfigsResource {
                resource_type: TOPIC,
                resource_name: "t".to_owned(),
                configs: vec![alter_configs::AlterableConfig {
                    name: "segment.ms".to_owned(),
                    value: Some("77".to_owned()),
                }],
            }],
            validate_only: false,
        };
        let response = client.call(version, &request).await;
        assert_eq!(response.responses[0].error_code, ErrorCode::NONE);
        let result = described(&mut client, 4, &describe(TOPIC, "t", None)).await;
        assert_eq!(find(&result, "retention.ms").config_source, 5);
        assert_eq!(find(&result, "segment.ms").value.as_deref(), Some("77"));
    }
}

#[tokio::test]
async fn resources_are_listed() {
    let (_broker, mut client) = start().await;
    let request = change(GROUP, "g", 0, "share.auto.offset.reset", Some("earliest"));
    assert_eq!(changed(&mut client, &request).await, ErrorCode::NONE);
    let all = ListConfigResourcesRequest::default();
    // Version 0 knows client metrics only.
    assert!(client.call(0, &all).await.config_resources.is_empty());
    let response = client.call(1, &all).await;
    let listed: Vec<(i8, &str)> = response
        .config_resources
        .iter()
        .map(|it| (it.resource_type, it.resource_name.as_str()))
        .collect();
    let expected = [
        (TOPIC, "t"),
        (BROKER, "1"),
        (BROKER_LOGGER, "1"),
        (GROUP, "g"),
    ];
    assert_eq!(listed, expected);
    let some = |resource_types| ListConfigResourcesRequest { resource_types };
    let response = client.call(1, &some(vec![BROKER, TOPIC])).await;
    assert_eq!(response.config_resources.len(), 2);
    let response = client.call(1, &some(vec![1])).await;
    assert_eq!(response.error_code, ErrorCode::UNSUPPORTED_VERSION);
}
