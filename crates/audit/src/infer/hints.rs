//! Headers and producer names that tell which rule wrote a record.

use super::mixture::Component;
use super::report::{HintReport, HintValue};
use super::sample::{HINTS, Sample};
use super::timeline::only;

/// Of the records with a value, how many must be of one component for it to tell.
const PURE: f64 = 0.95;

/// The hints whose values go with the components; those that don't are left out.
pub(super) fn hints(sample: &Sample, components: &[Component]) -> Vec<HintReport> {
    let mut tables: Vec<Vec<Vec<u64>>> = sample
        .hints
        .iter()
        .map(|hint| {
            let values = hint.values.as_ref().map_or(0, Vec::len);
            vec![vec![0; components.len()]; values + 1]
        })
        .collect();
    for event in &sample.events {
        let place = &sample.places[event.place as usize];
        if let Some(component) = only(components, place.key, place.partition) {
            for (table, &value) in tables.iter_mut().zip(&event.hints[..HINTS]) {
                if let Some(row) = table.get_mut(usize::from(value)) {
                    row[component] += 1;
                }
            }
        }
    }
    sample
        .hints
        .iter()
        .zip(tables)
        .filter(|(hint, table)| hint.values.is_some() && tells(table))
        .map(|(hint, table)| HintReport {
            name: String::from_utf8_lossy(&hint.name).into_owned(),
            values: table
                .into_iter()
                .enumerate()
                .filter(|(_, records)| records.iter().any(|&records| records > 0))
                .map(|(i, records)| HintValue {
                    value: i.checked_sub(1).and_then(|i| {
                        let values = hint.values.as_ref()?;
                        Some(String::from_utf8_lossy(values.get(i)?).into_owned())
                    }),
                    records,
                })
                .collect(),
        })
        .collect()
}

/// Whether nearly all records have a value that goes with one component, and not all with the same.
fn tells(table: &[Vec<u64>]) -> bool {
    let mut told = Vec::new();
    let (mut pure, mut all) = (0, 0);
    for row in table {
        let sum: u64 = row.iter().sum();
        let Some((component, &most)) = row.iter().enumerate().max_by_key(|(_, most)| **most) else {
            continue;
        };
        all += sum;
        if sum > 0 && most as f64 >= PURE * sum as f64 {
            pure += sum;
            told.push(component);
        }
    }
    told.dedup();
    pure as f64 >= 0.9 * all as f64 && told.iter().any(|component| *component != told[0])
}

#[cfg(test)]
mod tests {
    use super::tells;

    #[test]
    fn only_values_that_separate_the_components_tell() {
        assert!(tells(&[vec![0, 0], vec![100, 1], vec![0, 80]]));
        assert!(tells(&[vec![90, 2], vec![0, 50]]));
        assert!(!tells(&[vec![0, 0], vec![100, 90], vec![3, 4]]));
        assert!(!tells(&[vec![0, 0], vec![100, 1], vec![100, 0]]));
        assert!(!tells(&[vec![10, 10]]));
    }
}
