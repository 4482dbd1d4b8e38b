//! WriteTxnMarkers: writes commit or abort markers into partitions.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

use super::prelude::*;

/// Asks for WriteTxnMarkers (key 27).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteTxnMarkersRequest {
    pub markers: Vec<WritableTxnMarker>,
}

plain!(WriteTxnMarkersRequest, min 2, markers);

/// In [`WriteTxnMarkersRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WritableTxnMarker {
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub transaction_result: bool,
    pub topics: Vec<WritableTxnMarkerTopic>,
    pub coordinator_epoch: i32,
    /// Versions 2+.
    pub transaction_version: i8,
}

impl Wire for WritableTxnMarker {
    const MIN_SIZE: usize = 17;

    fn write(&self, w: &mut Writer) -> Result<()> {
        w.put(&self.producer_id)?;
        w.put(&self.producer_epoch)?;
        w.put(&self.transaction_result)?;
        w.put(&self.topics)?;
        w.put(&self.coordinator_epoch)?;
        w.put_in(2.., &self.transaction_version)?;
        w.no_tags();
        Ok(())
    }

    fn read(r: &mut Reader) -> Result<Self> {
        let value = Self {
            producer_id: r.get()?,
            producer_epoch: r.get()?,
            transaction_result: r.get()?,
            topics: r.get()?,
            coordinator_epoch: r.get()?,
            transaction_version: r.get_in(2..)?,
        };
        r.skip_tags()?;
        Ok(value)
    }
}

/// In [`WriteTxnMarkersRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WritableTxnMarkerTopic {
    pub name: String,
    pub partition_indexes: Vec<i32>,
}

plain!(WritableTxnMarkerTopic, min 3, name, partition_indexes);

/// Answers [`WriteTxnMarkersRequest`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteTxnMarkersResponse {
    pub markers: Vec<WritableTxnMarkerResult>,
}

plain!(WriteTxnMarkersResponse, min 2, markers);

/// In [`WriteTxnMarkersResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WritableTxnMarkerResult {
    pub producer_id: i64,
    pub topics: Vec<WritableTxnMarkerTopicResult>,
}

plain!(WritableTxnMarkerResult, min 10, producer_id, topics);

/// In [`WriteTxnMarkersResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WritableTxnMarkerTopicResult {
    pub name: String,
    pub partitions: Vec<WritableTxnMarkerPartitionResult>,
}

plain!(WritableTxnMarkerTopicResult, min 3, name, partitions);

/// In [`WriteTxnMarkersResponse`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WritableTxnMarkerPartitionResult {
    pub partition_index: i32,
    pub error_code: ErrorCode,
}

plain!(WritableTxnMarkerPartitionResult, min 7, partition_index, error_code);
