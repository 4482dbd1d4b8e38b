//! Keys that begin with a schema registry's [frame](crate::frame).
//!
//! Producers hash the frame too. When a key schema gets a new id, be it for a comment in it,
//! every key moves (materialize #26353).

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use serde::Serialize;

use super::sample::Sample;
use crate::frame::{Frame, FrameForm, RegistryId};

/// Keys under the schema registry's framing.
#[derive(Clone, Debug, Serialize)]
pub struct Framing {
    /// Keys that look framed.
    pub keys: u64,
    /// Their share of all distinct keys.
    pub share: f64,
    /// Each schema id with its number of keys, the most frequent first; at most 20.
    pub schema_ids: Vec<SchemaId>,
    /// Payloads that appear under more than one schema id: the same key twice.
    pub payloads_under_several_ids: u64,
    /// Of those, payloads whose records are on more than one partition.
    pub payloads_apart: u64,
    /// The first of these.
    pub examples: Vec<FramedExample>,
}

/// A schema id and how many keys carry it.
#[derive(Clone, Debug, Serialize)]
pub struct SchemaId {
    /// Whose frame it stands in.
    pub form: FrameForm,
    /// The registry's id.
    pub id: RegistryId,
    /// Distinct keys.
    pub keys: u64,
}

/// One payload under several schema ids.
#[derive(Clone, Debug, Serialize)]
pub struct FramedExample {
    /// What follows the frame, in hexadecimal; the first 64 bytes.
    pub payload_hex: String,
    /// The schema id and the partition of each of its keys.
    pub places: Vec<FramedPlace>,
}

/// A framed key's place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FramedPlace {
    /// The schema id.
    pub schema_id: RegistryId,
    /// The partition.
    pub partition: u32,
}

/// Examples that are kept.
const SHOWN: usize = 10;

/// What is framed among the sampled keys; `None` when too few are to believe it.
pub(crate) fn framing(sample: &Sample) -> Option<Framing> {
    let framed: Vec<(usize, Frame<'_>)> = sample
        .keys
        .iter()
        .enumerate()
        .filter_map(|(i, key)| Some((i, Frame::guess(key)?)))
        .collect();
    if framed.is_empty() || framed.len() * 20 < sample.keys.len() {
        return None;
    }
    let mut ids: HashMap<(FrameForm, RegistryId), u64> = HashMap::new();
    let mut payloads: HashMap<&[u8], Vec<(usize, RegistryId)>> = HashMap::new();
    for &(i, Frame { form, id, rest, .. }) in &framed {
        *ids.entry((form, id)).or_default() += 1;
        payloads.entry(rest).or_default().push((i, id));
    }
    // Ids that nearly every key has of its own are no ids of schemas.
    if ids.len() > 8.max(framed.len() / 4) {
        return None;
    }
    let mut schema_ids: Vec<_> = ids
        .into_iter()
        .map(|((form, id), keys)| SchemaId { form, id, keys })
        .collect();
    schema_ids.sort_by_key(|schema| (std::cmp::Reverse(schema.keys), schema.form, schema.id));
    schema_ids.truncate(20);
    let mut partitions: HashMap<usize, Vec<u32>> = HashMap::new();
    for place in &sample.places {
        partitions
            .entry(place.key as usize)
            .or_default()
            .push(place.partition);
    }
    let mut several: Vec<(&[u8], Vec<_>)> = payloads
        .into_iter()
        .filter(|(_, keys)| keys.len() > 1)
        .collect();
    several.sort_by_key(|(_, keys)| keys[0]);
    let places = |keys: &[(usize, RegistryId)]| -> Vec<FramedPlace> {
        keys.iter()
            .flat_map(|&(key, schema_id)| {
                let partitions = partitions.get(&key).map_or(&[][..], Vec::as_slice);
                partitions.iter().map(move |&partition| FramedPlace {
                    schema_id,
                    partition,
                })
            })
            .collect()
    };
    let apart: Vec<_> = several
        .iter()
        .map(|(payload, keys)| (payload, places(keys)))
        .filter(|(_, places)| places.windows(2).any(|p| p[0].partition != p[1].partition))
        .collect();
    Some(Framing {
        keys: framed.len() as u64,
        share: framed.len() as f64 / sample.keys.len() as f64,
        schema_ids,
        payloads_under_several_ids: several.len() as u64,
        payloads_apart: apart.len() as u64,
        examples: apart
            .into_iter()
            .take(SHOWN)
            .map(|(payload, places)| FramedExample {
                payload_hex: HEXLOWER.encode(&payload[..payload.len().min(64)]),
                places,
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::Limits;
    use super::*;
    use crate::input::records::Record;

    #[test]
    fn a_payload_under_two_ids_is_found_apart() {
        let mut sample = Sample::new(Limits::default());
        for i in 0..50u8 {
            for id in [1u8, 2] {
                let key = [0, 0, 0, 0, id, 2 * i, 1];
                sample.add(&Record {
                    partition: u32::from(i + id * (i % 2)) % 12,
                    key: Some(&key),
                    ..Record::default()
                });
            }
        }
        let framing = framing(&sample).unwrap();
        assert_eq!(
            (framing.keys, framing.payloads_under_several_ids),
            (100, 50)
        );
        assert_eq!(framing.payloads_apart, 25);
        assert_eq!(framing.examples.len(), 10);
        assert_eq!(framing.schema_ids[0].keys, 50);
    }
}
