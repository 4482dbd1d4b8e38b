//! Records of a live topic, and its partition count.
//!
//! A topic is read with the client's reader: no group, no commit, nothing is written. What is read is bounded: windows over each partition's offsets (`plan`),
//! from the oldest to the newest, in proportion to what each partition holds, so that neither the
//! shares of partitions nor a change of the writer is lost.

mod error;
mod fetch;
mod plan;
mod sampled;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use copart::{Client, ClientBuilder, Topic};
use copart_partitioners::PartitionCount;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::Error;
use crate::input::records::{Record, RecordSource};
use crate::text::number;
use fetch::Windows;
use plan::Window;
use sampled::Sampled;

/// Windows that are read at the same time, of as many partitions.
const AT_ONCE: usize = 8;

/// Which records of transactions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Up to the last stable offset, without those of aborted transactions.
    #[default]
    ReadCommitted,
    /// All.
    ReadUncommitted,
}

impl Isolation {
    /// As readers have it.
    const fn of_reader(self) -> copart::Isolation {
        match self {
            Self::ReadUncommitted => copart::Isolation::ReadUncommitted,
            Self::ReadCommitted => copart::Isolation::ReadCommitted,
        }
    }
}

/// How a live topic is read.
#[derive(Clone, Copy, Debug)]
pub struct LiveOptions {
    /// Which records of transactions are read.
    pub isolation: Isolation,
    /// The most records that are read, of all partitions together.
    pub records: u64,
    /// How long to wait for metadata, and for each answer with all tries.
    pub timeout: Duration,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            isolation: Isolation::default(),
            records: 10_000,
            timeout: Duration::from_secs(30),
        }
    }
}

/// A bounded sample of a live topic, window by window.
///
/// It has a tokio runtime of its own, and blocks while it waits for the cluster.
#[derive(Debug)]
pub struct LiveTopic {
    name: String,
    count: PartitionCount,
    windows: VecDeque<Window>,
    /// Windows as planned, and offsets of the topic when it was opened.
    planned: usize,
    offsets: u64,
    /// Whether the windows leave out a part of the topic.
    is_sample: bool,
    /// Windows whose offsets were deleted before they could be read.
    lost: u64,
    ready: VecDeque<Sampled>,
    current: Sampled,
    given: u64,
    // The reader before the runtime that its connections live in.
    reader: Windows,
    runtime: Runtime,
}

impl LiveTopic {
    /// Connects, and plans what to read.
    ///
    /// # Errors
    ///
    /// Of the kind [`Cluster`](crate::ErrorKind::Cluster) when no broker can be reached or one refuses
    /// access; [`Usage`](crate::ErrorKind::Usage) when the topic does not exist, the addresses are
    /// none, or this is called within a tokio runtime.
    pub fn open(cluster: ClientBuilder, topic: &str, options: &LiveOptions) -> Result<Self, Error> {
        let runtime = runtime()?;
        let (reader, count, ranges) = runtime.block_on(async {
            let (client, topic, count) = connect(cluster, topic, options.timeout).await?;
            let reader = Windows::new(&client, topic, options).await?;
            let ranges = reader.ranges().await?;
            Ok::<_, Error>((reader, count, ranges))
        })?;
        let windows = plan::windows(&ranges, options.records);
        let offsets = ranges.iter().map(|range| range.len()).sum();
        let taken: u64 = windows.iter().map(|window| window.take).sum();
        Ok(Self {
            name: format!("topic {topic}"),
            count,
            planned: windows.len(),
            windows: windows.into(),
            offsets,
            is_sample: taken < offsets,
            lost: 0,
            ready: VecDeque::new(),
            current: Sampled::default(),
            given: 0,
            reader,
            runtime,
        })
    }

    /// Reads the next windows, up to the first of a partition that is among them already.
    fn fill(&mut self) -> Result<(), Error> {
        let mut windows: Vec<Window> = Vec::with_capacity(AT_ONCE);
        while windows.len() < AT_ONCE
            && let Some(next) = self
                .windows
                .pop_front_if(|next| windows.iter().all(|w| w.partition != next.partition))
        {
            windows.push(next);
        }
        // In the plan's order, which is that of offsets within a partition.
        for window in self.runtime.block_on(self.reader.read(&windows))? {
            self.lost += u64::from(window.lost);
            self.ready.extend(window.records);
        }
        Ok(())
    }
}

impl RecordSource for LiveTopic {
    fn name(&self) -> &str {
        &self.name
    }

    fn partition_count(&self) -> Option<PartitionCount> {
        Some(self.count)
    }

    fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                self.current = record;
                self.given += 1;
                return Ok(Some(self.current.record(self.given)));
            }
            if self.windows.is_empty() {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.is_sample {
            warnings.push(format!(
                "a sample: {} records, from {} windows over {} offsets; --records reads more",
                number(self.given),
                number(self.planned as u64),
                number(self.offsets)
            ));
        }
        if self.lost > 0 {
            warnings.push(format!(
                "{} windows were deleted from the topic before they could be read",
                number(self.lost)
            ));
        }
        warnings
    }
}

/// How many partitions a topic has, as its cluster says.
///
/// # Errors
///
/// As [`LiveTopic::open`].
pub fn partition_count(
    cluster: ClientBuilder,
    topic: &str,
    timeout: Duration,
) -> Result<PartitionCount, Error> {
    runtime()?.block_on(async {
        let (_, _, count) = connect(cluster, topic, timeout).await?;
        Ok(count)
    })
}

async fn connect(
    cluster: ClientBuilder,
    topic: &str,
    timeout: Duration,
) -> Result<(Client, Arc<Topic>, PartitionCount), Error> {
    let client = cluster
        // Leaders may move while we read; without a producer nothing else makes metadata new.
        .metadata_max_age(Duration::from_secs(2))
        .connect()
        .await
        .map_err(error::unreached)?;
    let found = client
        .topic(topic, timeout)
        .await
        .map_err(|e| error::in_topic(topic, e))?;
    let count = u32::try_from(found.partitions.len())
        .ok()
        .and_then(PartitionCount::new)
        .ok_or_else(|| Error::input(format!("topic {topic}: the cluster names no partitions")))?;
    Ok((client, found, count))
}

fn runtime() -> Result<Runtime, Error> {
    if Handle::try_current().is_ok() {
        return Err(Error::usage(
            "a live topic is read on a thread of its own, not within a tokio runtime",
        ));
    }
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::unreadable("the runtime that reads topics", e))
}
