//! How long to wait before the next try.

use std::time::Duration;

/// Exponential backoff with jitter: each failure doubles the wait, up to a limit (KIP-580).
///
/// ```
/// use std::time::Duration;
/// let backoff = copart::Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
/// assert!(backoff.after(1) <= Duration::from_millis(120));
/// assert!(backoff.after(50) <= Duration::from_millis(1200));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    max: Duration,
}

impl Backoff {
    /// Waits `first` after the first failure, and never much more than `max`.
    pub const fn new(first: Duration, max: Duration) -> Self {
        Self { first, max }
    }

    /// How long to wait after this many failures in a row. A fifth of it either way is chance, so that
    /// clients which failed together do not come back together.
    pub fn after(&self, failures: u32) -> Duration {
        if failures == 0 {
            return Duration::ZERO;
        }
        let doubled = self.first.saturating_mul(1 << (failures - 1).min(20));
        doubled
            .min(self.max.max(self.first))
            .mul_f64(0.8 + 0.4 * fastrand::f64())
    }

    pub(crate) fn check(&self, name: &str, violations: &mut Vec<String>) {
        if self.first.is_zero() {
            violations.push(format!("{name}: the first wait must not be zero"));
        }
        if self.max < self.first {
            violations.push(format!(
                "{name}: the longest wait, {:?}, is below the first, {:?}",
                self.max, self.first
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_limit() {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(1000));
        assert_eq!(backoff.after(0), Duration::ZERO);
        for (failures, nominal) in [(1, 100), (2, 200), (4, 800), (5, 1000), (u32::MAX, 1000)] {
            for _ in 0..100 {
                let wait = backoff.after(failures).as_millis();
                let range = nominal * 8 / 10..=nominal * 12 / 10;
                assert!(range.contains(&wait), "{failures}: {wait}");
            }
        }
    }
}
