//! How surprising it is that so many keys match by chance.
//!
//! One question is asked of each hypothesis: if the partition of a key had nothing to do with what
//! the hypothesis predicts, how likely would as many keys match as did? Each distinct key counts
//! once, however many records it has.
//!
//! Under that null hypothesis the keys are independent, and key `i` matches with the probability
//! `q_i` that a record is on the predicted partition anyway. The number of matches is a
//! Poisson-binomial variable with mean `Σ q_i`. Hoeffding (1956) bounds its upper tail by that of
//! a binomial with the same mean, and Chernoff bounds the latter by `exp(-k · KL(x/k ‖ q))`,
//! `q = Σ q_i / k`. Both err on the side of caution.
//!
//! Many hypotheses are tried, so that the best of them looks better than it is. Bonferroni's
//! correction divides the error that is allowed over the whole run, [`FAMILY_ERROR`], by the
//! number of tests.

/// The probability, over all tests of one run, that anything is said of a topic whose placement
/// has nothing to do with its keys.
pub(super) const FAMILY_ERROR: f64 = 1e-6;

/// The natural logarithm of a bound on the probability that at least `matches` of `keys` match,
/// each with the probability `q` on average.
pub(super) fn ln_chance(keys: u64, q: f64, matches: u64) -> f64 {
    if keys == 0 || q >= 1.0 {
        return 0.0;
    }
    let rate = matches as f64 / keys as f64;
    if rate <= q {
        return 0.0;
    }
    if q <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let mut divergence = rate * (rate / q).ln();
    if matches < keys {
        divergence += (1.0 - rate) * ((1.0 - rate) / (1.0 - q)).ln();
    }
    -(keys as f64) * divergence
}

/// The natural logarithm of the chance below which one of `tests` counts.
pub(super) fn ln_threshold(tests: u64) -> f64 {
    (FAMILY_ERROR / tests.max(1) as f64).ln()
}

/// How many distinct keys, all of which match, it takes to get below `ln_threshold`; `None` when
/// no number does, as on a topic of one partition.
pub(super) fn keys_needed(q: f64, ln_threshold: f64) -> Option<u64> {
    if q >= 1.0 {
        return None;
    }
    Some(
        (ln_threshold / q.max(f64::MIN_POSITIVE).ln())
            .ceil()
            .max(1.0) as u64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tail itself, summed.
    fn exact(keys: u64, q: f64, matches: u64) -> f64 {
        let ln_factorial = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
        (matches..=keys)
            .map(|x| {
                let ways = ln_factorial(keys) - ln_factorial(x) - ln_factorial(keys - x);
                (ways + x as f64 * q.ln() + (keys - x) as f64 * (1.0 - q).ln()).exp()
            })
            .sum()
    }

    #[test]
    fn the_bound_is_above_the_tail_and_equal_where_all_match() {
        for keys in [1, 5, 20, 100] {
            for q in [0.02, 1.0 / 12.0, 0.3, 0.9] {
                for matches in 0..=keys {
                    let bound = ln_chance(keys, q, matches).exp();
                    let tail = exact(keys, q, matches);
                    assert!(bound >= tail * (1.0 - 1e-9), "{keys} {q} {matches}");
                }
                let all = ln_chance(keys, q, keys);
                assert!((all - keys as f64 * q.ln()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn keys_needed_are_enough_and_one_fewer_is_not() {
        for (q, tests) in [(1.0 / 3.0, 300), (1.0 / 12.0, 2000), (0.02, 40_000)] {
            let threshold = ln_threshold(tests);
            let needed = keys_needed(q, threshold).unwrap();
            assert!(ln_chance(needed, q, needed) <= threshold);
            assert!(ln_chance(needed - 1, q, needed - 1) > threshold);
        }
        assert_eq!(keys_needed(1.0, ln_threshold(10)), None);
        assert_eq!(ln_chance(1000, 1.0, 1000), 0.0);
    }
}
