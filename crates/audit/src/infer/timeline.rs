//! When each rule wrote: one after the other, or at the same time.
//!
//! Records that exactly one rule explains are put in order, by time over the whole topic and by
//! offset in each partition. If few stretches, each of one rule, account for nearly all of them,
//! the rules wrote in turn, and where a stretch ends the writer changed. Between the last record
//! of one stretch and the first of the next nothing is known: that is the resolution.

use serde::Serialize;

use super::mixture::Component;
use super::sample::{Moment, Sample};

/// When each component wrote.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// Whether they wrote one after the other.
    pub in_turn: bool,
    /// By time, over all partitions; none if the records have no usable timestamps.
    pub by_time: Option<Order>,
    /// By offset (or by the order of the source, if it gives no offsets), in each partition with
    /// records of more than one component.
    pub by_partition: Vec<PartitionOrder>,
}

/// Records in order.
#[derive(Clone, Debug, Serialize)]
pub struct Order {
    /// Whether few stretches account for nearly all records.
    pub in_turn: bool,
    /// The stretches, if so.
    pub segments: Vec<Segment>,
}

/// One partition's records in order.
#[derive(Clone, Debug, Serialize)]
pub struct PartitionOrder {
    /// The partition.
    pub partition: u32,
    /// Its records.
    #[serde(flatten)]
    pub order: Order,
}

/// A stretch of records by one component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// The component's index.
    pub component: usize,
    /// Its first record, of those that were kept.
    pub from: Point,
    /// Its last record.
    pub to: Point,
    /// Records of the component in it.
    pub records: u64,
}

/// A record's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Its number in the source, from 1.
    pub record: u64,
    /// Its offset in its partition.
    pub offset: Option<i64>,
    /// Milliseconds since 1970.
    pub timestamp: Option<i64>,
}

impl From<Moment> for Point {
    fn from(moment: Moment) -> Self {
        Self {
            record: moment.record,
            offset: moment.offset,
            timestamp: moment.timestamp,
        }
    }
}

/// Stretches beyond which writers count as mixed up: a roll-out, a roll-back and another roll-out.
const MOST_SEGMENTS: usize = 6;

/// Partitions that are listed.
const PARTITIONS: usize = 100;

/// A record that exactly one component explains.
#[derive(Clone, Copy)]
struct Labelled {
    component: u8,
    partition: u32,
    at: Moment,
}

/// The timeline of a topic with several components.
pub(super) fn timeline(sample: &Sample, components: &[Component]) -> Timeline {
    let labelled: Vec<Labelled> = sample
        .events
        .iter()
        .filter_map(|event| {
            let place = &sample.places[event.place as usize];
            let component = only(components, place.key, place.partition)?;
            Some(Labelled {
                component: component as u8,
                partition: place.partition,
                at: event.at,
            })
        })
        .collect();
    let by_time = in_time(&labelled, components.len());
    let mut of_partition: std::collections::BTreeMap<u32, Vec<Labelled>> = Default::default();
    for event in &labelled {
        of_partition
            .entry(event.partition)
            .or_default()
            .push(*event);
    }
    let mut by_partition = Vec::new();
    for (partition, mut events) in of_partition {
        events.sort_by_key(|event| (event.at.offset, event.at.record));
        if events
            .iter()
            .any(|event| event.component != events[0].component)
        {
            by_partition.push(PartitionOrder {
                partition,
                order: order(&events, components.len()),
            });
        }
    }
    // Clocks differ between producers, offsets don't lie; but time puts the partitions together.
    let in_turn = !by_partition.is_empty()
        && by_partition.iter().all(|partition| partition.order.in_turn)
        || by_time.as_ref().is_some_and(|order| order.in_turn);
    by_partition.truncate(PARTITIONS);
    Timeline {
        in_turn,
        by_time,
        by_partition,
    }
}

/// The one component that explains a key's place.
pub(super) fn only(components: &[Component], key: u32, partition: u32) -> Option<usize> {
    let mut explaining = components
        .iter()
        .enumerate()
        .filter(|(_, component)| component.predictions[key as usize] == partition);
    let first = explaining.next()?.0;
    explaining.next().is_none().then_some(first)
}

fn in_time(labelled: &[Labelled], components: usize) -> Option<Order> {
    let mut events: Vec<Labelled> = labelled
        .iter()
        .filter(|event| event.at.timestamp.is_some())
        .copied()
        .collect();
    events.sort_by_key(|event| (event.at.timestamp, event.at.record));
    let (first, last) = (events.first()?, events.last()?);
    let usable = events.len() * 10 >= labelled.len() * 9 && first.at.timestamp != last.at.timestamp;
    usable.then(|| order(&events, components))
}

fn order(events: &[Labelled], components: usize) -> Order {
    let labels: Vec<u8> = events.iter().map(|event| event.component).collect();
    let segments = stretches(&labels, components)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(range, component)| {
            let own = || {
                events[range.clone()]
                    .iter()
                    .filter(|event| usize::from(event.component) == component)
            };
            Some(Segment {
                component,
                from: own().next()?.at.into(),
                to: own().next_back()?.at.into(),
                records: own().count() as u64,
            })
        })
        .collect::<Vec<_>>();
    Order {
        in_turn: !segments.is_empty(),
        segments,
    }
}

/// The fewest stretches that leave at most a hundredth of the labels, and of the rarest label's a
/// fifth, outside those of their own; `None` if it takes too many.
fn stretches(labels: &[u8], classes: usize) -> Option<Vec<(std::ops::Range<usize>, usize)>> {
    let mut counts = vec![0usize; classes];
    for &label in labels {
        counts[usize::from(label)] += 1;
    }
    let rarest = counts.iter().filter(|&&count| count > 0).min().copied()?;
    let tolerated = (labels.len() / 100).min(rarest / 5);
    // errors[s][c]: the least so far with s + 1 stretches, the last of class c; and where each began.
    let states = MOST_SEGMENTS * classes;
    let mut errors = vec![usize::MAX / 2; states];
    errors[..classes].fill(0);
    // For each label and state, whether the stretch began there, and with which class before it.
    let mut came_from = vec![u8::MAX; labels.len() * states];
    for (i, &label) in labels.iter().enumerate() {
        let before = errors.clone();
        for stretch in 0..MOST_SEGMENTS {
            for class in 0..classes {
                let state = stretch * classes + class;
                let (mut best, mut from) = (before[state], u8::MAX);
                if stretch > 0 && i > 0 {
                    for other in (0..classes).filter(|&other| other != class) {
                        let errors = before[(stretch - 1) * classes + other];
                        if errors < best {
                            (best, from) = (errors, other as u8);
                        }
                    }
                }
                errors[state] = best + usize::from(usize::from(label) != class);
                came_from[i * states + state] = from;
            }
        }
    }
    let (stretch, class) = (0..MOST_SEGMENTS).find_map(|stretch| {
        let of = |class: usize| errors[stretch * classes + class];
        let class = (0..classes).min_by_key(|&class| of(class))?;
        (of(class) <= tolerated).then_some((stretch, class))
    })?;
    let (mut stretch, mut class) = (stretch, class);
    let mut end = labels.len();
    let mut found = Vec::new();
    for i in (0..labels.len()).rev() {
        let from = came_from[i * states + stretch * classes + class];
        if from != u8::MAX {
            found.push((i..end, class));
            end = i;
            stretch -= 1;
            class = usize::from(from);
        }
    }
    found.push((0..end, class));
    found.reverse();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Vec<(std::ops::Range<usize>, usize)>> {
        let labels: Vec<u8> = text.bytes().map(|b| b - b'a').collect();
        stretches(&labels, 3)
    }

    #[test]
    fn writers_in_turn_are_told_from_writers_at_once() {
        assert_eq!(of("aaaabbbbbb"), Some(vec![(0..4, 0), (4..10, 1)]));
        assert_eq!(of("aaabbbaaa"), Some(vec![(0..3, 0), (3..6, 1), (6..9, 0)]));
        assert_eq!(of("abc"), Some(vec![(0..1, 0), (1..2, 1), (2..3, 2)]));
        assert_eq!(of(&"ab".repeat(50)), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn a_stray_record_is_no_change_of_writer() {
        let text = format!("{}b{}{}", "a".repeat(300), "a".repeat(100), "b".repeat(400));
        assert_eq!(of(&text), Some(vec![(0..401, 0), (401..801, 1)]));
    }
}
