//! Which items of a call are settled, and which are tried again. Plain data: the driver is `call`.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use copart_protocol::ErrorCode;

use super::Results;
use crate::{Error, ErrorKind, Result};

/// The items of a call.
pub(super) struct Work<K, T> {
    items: Vec<(K, State<T>)>,
    places: HashMap<K, usize>,
    /// Whether the call may be carried out twice.
    repeatable: bool,
}

enum State<T> {
    /// Not asked yet, or asked in vain.
    Waiting {
        last: Option<Error>,
        /// Whether a request is out whose answer did not come.
        asked: bool,
    },
    /// Nothing will change this.
    Settled(Result<T>),
}

impl<K: Clone + Eq + Hash, T> Work<K, T> {
    pub(super) fn new(keys: Vec<K>, repeatable: bool) -> Self {
        let mut places = HashMap::with_capacity(keys.len());
        let mut items = Vec::with_capacity(keys.len());
        for key in keys {
            let state = match places.get(&key) {
                None => {
                    places.insert(key.clone(), items.len());
                    State::Waiting {
                        last: None,
                        asked: false,
                    }
                }
                // Brokers refuse the whole request, or one of the two, depending on the API.
                Some(_) => State::Settled(Err(Error::new(
                    ErrorKind::Config,
                    "it is named twice in one call; leave one out",
                ))),
            };
            items.push((key, state));
        }
        Self {
            items,
            places,
            repeatable,
        }
    }

    pub(super) fn key(&self, place: usize) -> &K {
        &self.items[place].0
    }

    /// The places of items that are to be asked for.
    pub(super) fn waiting(&self) -> Vec<usize> {
        let items = self.items.iter().enumerate();
        items
            .filter(|(_, (_, state))| matches!(state, State::Waiting { .. }))
            .map(|(place, _)| place)
            .collect()
    }

    pub(super) fn place(&self, key: &K) -> Option<usize> {
        self.places.get(key).copied()
    }

    /// A request for the item goes out.
    pub(super) fn begin(&mut self, place: usize) {
        if let Some((_, State::Waiting { asked, .. })) = self.items.get_mut(place) {
            *asked = true;
        }
    }

    /// Takes an outcome in. A failure that another try may mend leaves the item waiting.
    pub(super) fn settle(&mut self, place: usize, outcome: Result<T>) {
        let Some((_, state)) = self.items.get_mut(place) else {
            return;
        };
        // The first outcome stands: a broker that answers twice for one item is not believed the second time.
        if matches!(state, State::Settled(_)) {
            return;
        }
        *state = match outcome {
            Err(error) if may_mend(&error, self.repeatable) => State::Waiting {
                last: Some(error),
                asked: false,
            },
            outcome => State::Settled(outcome),
        };
    }

    /// Leaves an item waiting after a failure that passes, though it may look final.
    pub(super) fn wait_after(&mut self, place: usize, error: Error) {
        if let Some((_, State::Waiting { last, asked })) = self.items.get_mut(place) {
            *last = Some(error);
            *asked = false;
        }
    }

    /// No more tries: what waits has failed.
    pub(super) fn finish(
        self,
        waited: Duration,
        name: impl Fn(&K, Error) -> Error,
    ) -> Results<K, T> {
        let repeatable = self.repeatable;
        let entries = self.items.into_iter().map(|(key, state)| {
            let outcome = match state {
                State::Settled(outcome) => outcome.map_err(|error| name(&key, error)),
                State::Waiting { last, asked } => {
                    let error = out_of_time(waited, last);
                    let open = error.possibly_written() || asked && !repeatable;
                    Err(name(&key, error.maybe_written(open)))
                }
            };
            (key, outcome)
        });
        Results::new(entries.collect())
    }
}

#[cold]
fn out_of_time(waited: Duration, last: Option<Error>) -> Error {
    match last {
        None => Error::new(ErrorKind::Timeout, format!("no answer within {waited:?}")),
        Some(last) => {
            let reason = format!(
                "not done within {waited:?}; the last try: {}",
                last.reason()
            );
            let error =
                Error::new(ErrorKind::Timeout, reason).maybe_written(last.possibly_written());
            match last.code() {
                Some(code) => error.with_code(code).caused_by(last),
                None => error.caused_by(last),
            }
        }
    }
}

/// Whether trying again makes sense, and can do no harm. Kafka's own list of retriable codes is too wide here:
/// it has codes that are answers for an administrator, such as `UNKNOWN_TOPIC_OR_PARTITION`.
fn may_mend(error: &Error, repeatable: bool) -> bool {
    let Some(code) = error.code() else {
        return match error.kind() {
            ErrorKind::Connect => true,
            ErrorKind::Disconnected | ErrorKind::Timeout => repeatable || !error.possibly_written(),
            _ => false,
        };
    };
    match code {
        // Carried out or not, who knows.
        ErrorCode::REQUEST_TIMED_OUT => repeatable,
        ErrorCode::NOT_CONTROLLER
        | ErrorCode::NOT_COORDINATOR
        | ErrorCode::COORDINATOR_NOT_AVAILABLE
        | ErrorCode::COORDINATOR_LOAD_IN_PROGRESS
        | ErrorCode::NOT_LEADER_OR_FOLLOWER
        | ErrorCode::LEADER_NOT_AVAILABLE
        | ErrorCode::FENCED_LEADER_EPOCH
        | ErrorCode::UNKNOWN_LEADER_EPOCH
        | ErrorCode::OFFSET_NOT_AVAILABLE
        | ErrorCode::UNSTABLE_OFFSET_COMMIT
        | ErrorCode::NETWORK_EXCEPTION
        | ErrorCode::KAFKA_STORAGE_ERROR
        | ErrorCode::REBOOTSTRAP_REQUIRED
        | ErrorCode::THROTTLING_QUOTA_EXCEEDED => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: ErrorCode) -> Error {
        Error::from_code(code, None)
    }

    fn finish(work: Work<&'static str, i32>) -> Vec<(&'static str, Result<i32>)> {
        let named = |key: &&str, error: Error| error.in_topic(*key);
        let results = work.finish(Duration::from_secs(1), named);
        results.into_iter().collect()
    }

    #[test]
    fn failures_that_may_mend_are_tried_again() {
        let mut work = Work::new(vec!["a", "b", "c"], true);
        work.settle(0, Ok(1));
        work.settle(1, Err(code(ErrorCode::NOT_CONTROLLER)));
        work.settle(2, Err(code(ErrorCode::TOPIC_ALREADY_EXISTS)));
        assert_eq!(work.waiting(), [1]);
        work.settle(1, Ok(2));
        assert!(work.waiting().is_empty());
        let outcomes = finish(work);
        assert_eq!(outcomes[0].1.as_ref().ok(), Some(&1));
        assert_eq!(outcomes[1].1.as_ref().ok(), Some(&2));
        let error = outcomes[2].1.as_ref().expect_err("refused");
        assert_eq!(error.code(), Some(ErrorCode::TOPIC_ALREADY_EXISTS));
        assert_eq!(error.context().topic.as_deref(), Some("c"));
    }

    #[test]
    fn what_may_have_happened_is_repeated_only_if_that_is_harmless() {
        let lost = Error::new(ErrorKind::Disconnected, "gone").maybe_written(true);
        for (repeatable, waiting) in [(true, 2), (false, 0)] {
            let mut work: Work<_, i32> = Work::new(vec!["a", "b"], repeatable);
            work.settle(0, Err(lost.clone()));
            work.settle(1, Err(code(ErrorCode::REQUEST_TIMED_OUT)));
            assert_eq!(work.waiting().len(), waiting);
        }
        let mut work: Work<_, i32> = Work::new(vec!["a"], false);
        work.settle(0, Err(lost.maybe_written(false)));
        assert_eq!(work.waiting(), [0]);
    }

    #[test]
    fn the_end_names_the_last_failure() {
        let mut work: Work<_, i32> = Work::new(vec!["a", "b"], false);
        work.begin(0);
        work.settle(0, Err(code(ErrorCode::NOT_CONTROLLER)));
        work.begin(1);
        let outcomes = finish(work);
        let error = outcomes[0].1.as_ref().expect_err("out of time");
        assert!(error.to_string().contains("NOT_CONTROLLER"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert_eq!(error.code(), Some(ErrorCode::NOT_CONTROLLER));
        assert!(!error.possibly_written());
        let error = outcomes[1].1.as_ref().expect_err("out of time");
        assert!(error.possibly_written());
    }

    #[test]
    fn twins_are_refused_and_second_answers_ignored() {
        let mut work = Work::new(vec!["a", "a", "b"], true);
        assert_eq!(work.waiting(), [0, 2]);
        work.settle(0, Ok(1));
        work.settle(0, Ok(7));
        work.settle(1, Ok(7));
        work.settle(9, Ok(7));
        let outcomes = finish(work);
        assert_eq!(outcomes[0].1.as_ref().ok(), Some(&1));
        assert!(
            outcomes[1]
                .1
                .as_ref()
                .is_err_and(|e| e.kind() == ErrorKind::Config)
        );
    }
}
