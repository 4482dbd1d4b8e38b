//! The metadata log of a broker, read by Kafka's decoder of its own records: the log, and a snapshot.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use bytes::{Buf, BytesMut};
use copart_broker::Broker;
use copart_broker::log::Durability;
use copart_protocol::Request;
use copart_protocol::frame::{self, Frame};
use copart_protocol::header::RequestHeader;
use copart_protocol::messages::delete_topics::DeleteTopicsRequest;
use copart_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use copart_protocol::messages::init_producer_id::InitProducerIdRequest;

use super::{dump, with_extension};

/// Settings this long, so many times, make the broker write a snapshot.
const LONG: usize = 30_000;
const TIMES: usize = 160;

pub(super) fn compare(tool: &[String], data: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut faults = Vec::new();
    let runtime = tokio::runtime::Runtime::new()?;
    let builder = Broker::builder()
        .nodes(3)
        .data(data)
        .durability(Durability::Process)
        .replicated_topic("orders", 4, 3)
        .replicated_topic("gone", 1, 3);
    let broker = runtime.block_on(builder.start())?;
    let mut client = Client::connect(broker.address(1)?)?;
    let producer = InitProducerIdRequest {
        transactional_id: None,
        ..Default::default()
    };
    client.call(4, &producer)?;
    runtime.block_on(broker.stop_node(3))?;
    client.call(1, &set("retention.ms", "86400000"))?;
    let gone = DeleteTopicsRequest {
        topic_names: vec!["gone".to_owned()],
        ..Default::default()
    };
    client.call(5, &gone)?;

    let dir = data.join("__cluster_metadata-0");
    let expected: &[(&str, usize)] = &[
        ("REGISTER_BROKER_RECORD", 3),
        ("TOPIC_RECORD", 2),
        ("PARTITION_RECORD", 5),
        ("PRODUCER_IDS_RECORD", 1),
        ("BROKER_REGISTRATION_CHANGE_RECORD", 1),
        ("PARTITION_CHANGE_RECORD", 5),
        ("CONFIG_RECORD", 1),
        ("REMOVE_TOPIC_RECORD", 1),
    ];
    faults.extend(check(tool, &dir, "log", expected)?);

    let item = "12345:1,";
    for n in 0..TIMES {
        let list = item.repeat(LONG / item.len()) + &format!("{n}:1");
        client.call(1, &set("leader.replication.throttled.replicas", &list))?;
    }
    runtime.block_on(broker.stop())?;
    let expected: &[(&str, usize)] = &[
        ("REGISTER_BROKER_RECORD", 3),
        ("TOPIC_RECORD", 1),
        ("PARTITION_RECORD", 4),
        ("PRODUCER_IDS_RECORD", 1),
        ("CONFIG_RECORD", 2),
    ];
    faults.extend(check(tool, &dir, "checkpoint", expected)?);
    Ok(faults)
}

fn set(name: &str, value: &str) -> IncrementalAlterConfigsRequest {
    IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: 2,
            resource_name: "orders".to_owned(),
            configs: vec![AlterableConfig {
                name: name.to_owned(),
                config_operation: 0,
                value: Some(value.to_owned()),
            }],
        }],
        validate_only: false,
    }
}

/// Has the tool decode the files with this extension, and counts the records of each type.
fn check(
    tool: &[String],
    dir: &Path,
    extension: &str,
    expected: &[(&str, usize)],
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut faults = Vec::new();
    let files = with_extension(dir, extension)?;
    let text = dump(tool, &["--cluster-metadata-decoder"], &files)?;
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut batches = 0;
    for line in text.lines() {
        if line.starts_with("baseOffset: ") {
            batches += 1;
            if !line.contains("isvalid: true") {
                faults.push(format!("not valid: {line}"));
            }
        } else if let Some((_, payload)) = line.split_once("payload: ") {
            let kind = payload
                .strip_prefix("{\"type\":\"")
                .and_then(|rest| rest.split('"').next());
            match kind {
                Some(kind) => *found.entry(kind).or_default() += 1,
                None => faults.push(format!("not decoded: {line}")),
            }
        } else if line.contains("Could not") {
            faults.push(line.to_owned());
        }
    }
    if found != expected.iter().copied().collect() {
        faults.push(format!(
            "{extension}: {found:?}, expected {expected:?}: {text}"
        ));
    }
    if extension == "checkpoint" {
        for control in ["SnapshotHeader", "SnapshotFooter"] {
            if !text.contains(control) {
                faults.push(format!("no {control} in: {text}"));
            }
        }
    }
    println!("metadata {extension}: {batches} batches, {found:?}");
    Ok(faults)
}

struct Client {
    stream: TcpStream,
    buffer: BytesMut,
}

impl Client {
    fn connect(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            stream: TcpStream::connect(address)?,
            buffer: BytesMut::new(),
        })
    }

    fn call<R: Request>(&mut self, version: i16, request: &R) -> Result<(), Box<dyn Error>> {
        let header = RequestHeader::new::<R>(version, 1, None);
        let mut frame = Frame::request(&header, request)?;
        while frame.has_remaining() {
            let written = self.stream.write(frame.chunk())?;
            frame.advance(written);
        }
        loop {
            if let Some(answer) = frame::take(&mut self.buffer, 1 << 20)? {
                frame::read_response::<R>(version, answer)?;
                return Ok(());
            }
            let mut bytes = [0; 4096];
            let read = self.stream.read(&mut bytes)?;
            if read == 0 {
                return Err("the broker closed the connection".into());
            }
            self.buffer.extend_from_slice(&bytes[..read]);
        }
    }
}
