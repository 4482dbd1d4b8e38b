//! An async Kafka client in which a producer names its partitioner.
//!
//! Kafka's brokers do not choose partitions: each producer does, and clients in different languages put the
//! same key on different partitions. This client has no default for it. [`Partitioning::like`] takes the
//! name of the client whose keys must match, and behaves as that client does, bit for bit.
//!
//! ```no_run
//! use copart::{Client, Partitioning, ProducerRecord};
//!
//! # async fn run() -> copart::Result<()> {
//! let client = Client::builder("localhost:9092").connect().await?;
//! let producer = client.producer().partitioner(Partitioning::like("java")?).build()?;
//!
//! let order = ProducerRecord::to("orders").key("customer-1").value(r#"{"item":7}"#);
//! let receipt = producer.send(order).await?;
//! println!("partition {}, offset {:?}", receipt.partition, receipt.offset);
//! # Ok(()) }
//! ```
//!
//! - [`Client`]: connections, metadata, and [any request](Client::request) of Kafka's.
//! - [`Producer`]: idempotent by default, several batches in flight, nothing lost in silence.
//! - [`Reader`]: topics and partitions from any place on, without a group.
//! - [`Consumer`]: a member of a group; what was processed is committed, what is out is not taken away.
//! - [`TypedProducer`]: keys and values by [serializers], and null only where it is said.
//! - [`TypedConsumer`], [`TypedReader`]: keys and values decoded; what can't be read fails, is skipped or set aside.
//! - [`Partitioning`]: as another client, spread, or by code of yours.
//! - [`Admin`](admin::Admin): topics, settings, offsets and groups, one outcome for each item.
//! - [`Properties`]: configuration with the keys of Java's clients and of librdkafka.
//! - [`Guard`]: refuses to write where keys would not go where they went before.
//! - [`Error`]: one type, with a [kind](ErrorKind), a context, and whether a record may be written all the
//!   same.
//!
//! It needs a tokio runtime, and builds with cargo and a C compiler alone. Spans and events go to `tracing`,
//! counters and histograms to the `metrics` facade, under names that begin with `copart.`; an [`Interceptor`] is
//! code of yours that looks on.
#![forbid(unsafe_code)]

pub mod admin;
mod backoff;
mod client;
mod cluster;
mod consumer;
mod error;
mod net;
mod producer;
mod properties;
mod reader;
mod telemetry;
mod topic_partition;
mod typed;

pub use backoff::Backoff;
pub use client::{Client, ClientBuilder};
pub use cluster::{Broker, ClusterView, Coordinated, Partition, RequestBuilder, Route, Topic};
pub use consumer::{
    Assignor, Commit, Committed, Committer, Consumer, ConsumerBuilder, GroupBatch, GroupRecord,
    GroupRecords, IntoRecords, Membership, PartitionStream, Partitions, Protocol as GroupProtocol,
    Rebalance, TypedConsumer, TypedGroupRecords,
};
pub use copart_partitioners as partitioners;
pub use copart_protocol as protocol;
pub use copart_protocol::records::{Codec, Compression, Header, Headers, TimestampType};
pub use copart_serializers as serializers;
pub use error::{Context, Error, ErrorKind, Result};
#[cfg(feature = "tls")]
pub use net::Tls;
pub use net::sasl::{Sasl, Token, TokenProvider};
pub use net::{Address, BoxFuture, BoxStream, Stream, Tcp, Transport};
pub use producer::{
    Acks, Choice, CloseReport, Delivery, Guard, NamedPartitioner, NoPartitioner, Null, Partitioner,
    PartitionerChosen, Partitioning, Payload, Producer, ProducerBuilder, ProducerRecord, Receipt,
    RecordView, Rejection, TopicView, TypedProducer,
};
pub use properties::{Properties, PropertyClients, PropertyKey, Treatment};
pub use reader::{
    Batch, End, Isolation, OffsetAndTimestamp, OffsetReset, OwnedRecord, Reader, ReaderBuilder,
    Record, RecordStream, Records, Start, TypedReader, TypedRecordStream, Watermarks,
};
pub use telemetry::{
    Acknowledgement, Interceptor, OutgoingRecord, TraceContext, TraceInjector, describe_metrics,
};
pub use topic_partition::TopicPartition;
pub use typed::{TypedBatch, TypedRecord};
