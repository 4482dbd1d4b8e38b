//! How surprising it is that so many keys are where they are.
//!
//! As in `copart infer`: the tail of the number of matches is bounded by Chernoff's `exp(-k · KL(x/k ‖ q))`, which
//! errs on the side of caution.

/// What is less likely than that does not happen by chance.
const ERROR: f64 = 1e-6;

/// Whether at least `matches` of `keys` match by chance, each with the probability `q` on average, only once in a
/// million times; once in a million for all, if `tests` such questions are asked.
pub(super) fn is_no_chance(keys: usize, q: f64, matches: usize, tests: usize) -> bool {
    ln_chance(keys as f64, q, matches as f64) < (ERROR / tests.max(1) as f64).ln()
}

fn ln_chance(keys: f64, q: f64, matches: f64) -> f64 {
    let rate = matches / keys;
    if keys == 0.0 || rate <= q {
        return 0.0;
    }
    if q <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let mut divergence = rate * (rate / q).ln();
    if rate < 1.0 {
        divergence += (1.0 - rate) * ((1.0 - rate) / (1.0 - q)).ln();
    }
    -keys * divergence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_prove_nothing() {
        // One in twelve by chance: twelve to the sixth is three millions.
        assert!(!is_no_chance(5, 1.0 / 12.0, 5, 1));
        assert!(is_no_chance(6, 1.0 / 12.0, 6, 1));
        assert!(!is_no_chance(6, 1.0 / 12.0, 6, 100));
        assert!(!is_no_chance(19, 0.5, 19, 1));
        assert!(is_no_chance(20, 0.5, 20, 1));
        assert!(!is_no_chance(1_000_000, 1.0, 1_000_000, 1));
        assert!(!is_no_chance(0, 0.1, 0, 1));
        assert!(!is_no_chance(1000, 0.1, 100, 1));
        assert!(is_no_chance(1000, 0.1, 200, 1));
    }
}
