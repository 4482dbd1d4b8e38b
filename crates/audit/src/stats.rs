//! Pearson's χ² test, and how uneven loads are.

use serde::Serialize;
use statrs::function::gamma::checked_gamma_ur;

/// Pearson's χ² test of goodness of fit with the uniform distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChiSquare {
    /// The sum over partitions of (observed − expected)² / expected.
    pub statistic: f64,
    /// Partitions less one.
    pub degrees_of_freedom: u64,
    /// The chance of a statistic at least as large, if each went to a partition at random. Below
    /// about 1e-300 it is 0.
    pub p_value: f64,
}

/// The expected count for each partition below which the test says nothing: the usual rule, from
/// Cochran 1954.
pub const LEAST_EXPECTED: f64 = 5.0;

impl ChiSquare {
    /// Tests counts; `None` with fewer than two of them, or when fewer than
    /// [`LEAST_EXPECTED`] are expected in each.
    #[must_use]
    pub fn uniform(counts: &[u64]) -> Option<Self> {
        let total: f64 = counts.iter().map(|&count| count as f64).sum();
        let expected = total / counts.len() as f64;
        if counts.len() < 2 || expected < LEAST_EXPECTED {
            return None;
        }
        let squares: f64 = counts
            .iter()
            .map(|&count| (count as f64 - expected).powi(2))
            .sum();
        let statistic = squares / expected;
        let degrees_of_freedom = counts.len() as u64 - 1;
        Some(Self {
            statistic,
            degrees_of_freedom,
            p_value: survival(statistic, degrees_of_freedom),
        })
    }
}

/// The chance that χ² with so many degrees of freedom is above `statistic`.
fn survival(statistic: f64, degrees_of_freedom: u64) -> f64 {
    if statistic <= 0.0 || degrees_of_freedom == 0 {
        return 1.0;
    }
    let (shape, at) = (degrees_of_freedom as f64 / 2.0, statistic / 2.0);
    checked_gamma_ur(shape, at).map_or(f64::NAN, |p| p.clamp(0.0, 1.0))
}

/// How unevenly a load lies on partitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// All of it.
    pub total: u64,
    /// On average on each partition.
    pub mean: f64,
    /// On the partition that has least.
    pub min: u64,
    /// On the partition that has most.
    pub max: u64,
    /// Which one that is; the first of several.
    pub max_partition: u32,
    /// How many times the mean the busiest partition has; 0 without a load.
    pub max_over_mean: f64,
    /// The standard deviation over the partitions as a share of the mean; 0 without a load.
    pub coefficient_of_variation: f64,
    /// Partitions without any.
    pub empty: u64,
}

impl Spread {
    /// Of the loads of all partitions, of which there is at least one.
    #[must_use]
    pub fn of(loads: &[u64]) -> Self {
        let total = loads
            .iter()
            .fold(0u64, |sum, &load| sum.saturating_add(load));
        let mean = total as f64 / loads.len().max(1) as f64;
        let max = loads.iter().copied().max().unwrap_or(0);
        let squares: f64 = loads.iter().map(|&load| (load as f64 - mean).powi(2)).sum();
        let deviation = (squares / loads.len().max(1) as f64).sqrt();
        let of_mean = |value: f64| if total == 0 { 0.0 } else { value / mean };
        Self {
            total,
            mean,
            min: loads.iter().copied().min().unwrap_or(0),
            max,
            max_partition: loads.iter().position(|&load| load == max).unwrap_or(0) as u32,
            max_over_mean: of_mean(max as f64),
            coefficient_of_variation: of_mean(deviation),
            empty: loads.iter().filter(|&&load| load == 0).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `testdata/chi2.py` with SciPy.
    const SCIPY: &str = include_str!("../testdata/chi2.tsv");

    #[test]
    fn p_values_are_those_of_scipy() {
        let mut seen = 0;
        for line in SCIPY.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [statistic, df, expected] = fields[..] else {
                panic!("{line}");
            };
            let got = survival(statistic.parse().unwrap(), df.parse().unwrap());
            let expected: f64 = expected.parse().unwrap();
            let close =
                (got - expected).abs() <= 1e-9 * expected || (got - expected).abs() < 1e-300;
            assert!(close, "{line}: {got:e}");
            seen += 1;
        }
        assert!(seen > 100, "{seen}");
    }

    /// Critical values as statistical tables print them (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
    #[test]
    fn p_values_are_those_of_printed_tables() {
        for (df, critical) in [
            (1, [2.706, 3.841, 5.024, 6.635, 10.828]),
            (5, [9.236, 11.070, 12.833, 15.086, 20.515]),
            (11, [17.275, 19.675, 21.920, 24.725, 31.264]),
            (30, [40.256, 43.773, 46.979, 50.892, 59.703]),
            (100, [118.498, 124.342, 129.561, 135.807, 149.449]),
        ] {
            for (statistic, p) in critical.into_iter().zip([0.10, 0.05, 0.025, 0.01, 0.001]) {
                let got = survival(statistic, df);
                // The tables have three decimals.
                assert!((got / p - 1.0).abs() < 2e-3, "{df} {statistic} {got} {p}");
            }
        }
    }

    /// The worked example of many a textbook: a die rolled 60 times.
    #[test]
    fn the_statistic_is_pearsons() {
        let test = ChiSquare::uniform(&[5, 8, 9, 8, 10, 20]).unwrap();
        assert!((test.statistic - 13.4).abs() < 1e-12);
        assert_eq!(test.degrees_of_freedom, 5);
        assert!((test.p_value - 0.0199).abs() < 5e-5, "{}", test.p_value);
        assert_eq!(ChiSquare::uniform(&[100]), None);
        assert_eq!(ChiSquare::uniform(&[4, 5]), None);
        assert!(ChiSquare::uniform(&[5, 5]).is_some_and(|test| test.p_value == 1.0));
        assert!(ChiSquare::uniform(&[0, 1_000_000]).is_some_and(|test| test.p_value == 0.0));
    }

    #[test]
    fn spread() {
        let spread = Spread::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((spread.total, spread.min, spread.max), (40, 2, 9));
        assert_eq!((spread.max_partition, spread.empty), (7, 0));
        assert!((spread.mean - 5.0).abs() < 1e-12);
        assert!((spread.coefficient_of_variation - 0.4).abs() < 1e-12);
        assert!((spread.max_over_mean - 1.8).abs() < 1e-12);
        let none = Spread::of(&[0, 0]);
        assert_eq!((none.empty, none.max_over_mean), (2, 0.0));
        assert_eq!(none.coefficient_of_variation, 0.0);
    }
}
