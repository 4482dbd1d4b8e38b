//! Which topics metadata is asked for: those that somebody uses, or used not long ago.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Topics to ask for.
pub(super) struct Wanted {
    started: Instant,
    topics: HashMap<Arc<str>, Arc<Interest>>,
    /// Those that no answer has spoken of since they were wanted.
    new: HashSet<Arc<str>>,
}

/// How much a topic is wanted. Shared with those who use it, so that using it costs no lock.
#[derive(Debug)]
pub(crate) struct Interest {
    started: Instant,
    /// Milliseconds since then.
    last_used: AtomicU64,
    /// How many want it whether they use it or not.
    holders: AtomicUsize,
    /// Nobody used it for long, so that nothing is known of it any more.
    forgotten: AtomicBool,
}

impl Interest {
    fn new(started: Instant) -> Self {
        Self {
            started,
            last_used: AtomicU64::new(0),
            holders: AtomicUsize::new(0),
            forgotten: AtomicBool::new(false),
        }
    }

    /// Says that the topic is used now. What is forgotten already stays so: see
    /// [`Cluster::touch`](super::Cluster::touch).
    pub(crate) fn touch(&self) {
        let now = self.started.elapsed().as_millis();
        self.last_used
            .store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether metadata has to be asked for before the topic can be used again.
    #[inline]
    pub(crate) fn is_forgotten(&self) -> bool {
        self.forgotten.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(crate) fn for_tests() -> Arc<Self> {
        Arc::new(Self::new(Instant::now()))
    }

    fn idle(&self) -> Duration {
        let last = Duration::from_millis(self.last_used.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(last)
    }
}

/// Keeps a topic from being forgotten.
#[derive(Debug)]
pub(crate) struct Hold(Arc<Interest>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.holders.fetch_sub(1, Ordering::Relaxed);
        self.0.touch();
    }
}

impl Wanted {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            topics: HashMap::new(),
            new: HashSet::new(),
        }
    }

    /// Wants a topic for a while.
    pub(super) fn touch(&mut self, topic: &str) -> Arc<Interest> {
        let interest = match self.topics.get_key_value(topic) {
            Some((topic, interest)) => {
                if interest.is_forgotten() {
                    self.new.insert(Arc::clone(topic));
                }
                Arc::clone(interest)
            }
            None => {
                let topic: Arc<str> = topic.into();
                let interest = Arc::new(Interest::new(self.started));
                self.topics
                    .insert(Arc::clone(&topic), Arc::clone(&interest));
                self.new.insert(topic);
                interest
            }
        };
        interest.touch();
        interest
    }

    /// Wants a topic until the result is dropped.
    pub(super) fn hold(&mut self, topic: &str) -> Hold {
        let interest = self.touch(topic);
        interest.holders.fetch_add(1, Ordering::Relaxed);
        Hold(interest)
    }

    /// What to ask for.
    pub(super) fn to_ask(&self) -> Vec<Arc<str>> {
        let wanted = self
            .topics
            .iter()
            .filter(|(topic, interest)| !interest.is_forgotten() || self.new.contains(&**topic));
        wanted.map(|(topic, _)| Arc::clone(topic)).collect()
    }

    /// Whether somebody waits for a topic that nothing is known of.
    pub(super) fn is_urgent(&self) -> bool {
        !self.new.is_empty()
    }

    /// An answer has spoken of these.
    pub(super) fn answered(&mut self, topics: &[Arc<str>]) {
        for topic in topics {
            self.new.remove(topic);
            if let Some(interest) = self.topics.get(topic) {
                interest.forgotten.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Forgets what was not used for `max_idle`, and says what that is.
    pub(super) fn forget_idle(&mut self, max_idle: Duration) -> Vec<Arc<str>> {
        let mut forgotten = Vec::new();
        self.topics.retain(|topic, interest| {
            let stays = interest.holders.load(Ordering::Relaxed) > 0
                || self.new.contains(topic)
                || interest.idle() < max_idle;
            if stays {
                return true;
            }
            if !interest.forgotten.swap(true, Ordering::Relaxed) {
                forgotten.push(Arc::clone(topic));
            }
            // Whoever still knows of it shares what it is told.
            Arc::strong_count(interest) > 1
        });
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    fn names(topics: &[Arc<str>]) -> Vec<&str> {
        let mut names: Vec<&str> = topics.iter().map(|topic| &**topic).collect();
        names.sort_unstable();
        names
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_used_is_forgotten_and_comes_back() {
        let mut wanted = Wanted::new();
        let used = wanted.touch("used");
        let idle = wanted.touch("idle");
        drop(wanted.touch("once"));
        let held = wanted.hold("held");
        assert!(wanted.is_urgent());
        let all = wanted.to_ask();
        wanted.answered(&all);
        assert!(!wanted.is_urgent());
        tokio::time::advance(IDLE).await;
        used.touch();
        assert_eq!(names(&wanted.forget_idle(IDLE)), ["idle", "once"]);
        assert!(wanted.forget_idle(IDLE).is_empty(), "told once");
        assert_eq!(names(&wanted.to_ask()), ["held", "used"]);
        assert!(idle.is_forgotten() && !used.is_forgotten());
        assert!(!wanted.topics.contains_key("once"), "nobody holds it");

        // Known again only when an answer has spoken of it.
        let again = wanted.touch("idle");
        assert!(Arc::ptr_eq(&idle, &again) && wanted.is_urgent());
        assert!(idle.is_forgotten());
        assert_eq!(names(&wanted.to_ask()), ["held", "idle", "used"]);
        wanted.answered(&wanted.to_ask());
        assert!(!idle.is_forgotten());

        drop(held);
        assert!(wanted.forget_idle(IDLE).is_empty());
        tokio::time::advance(IDLE).await;
        assert!(names(&wanted.forget_idle(IDLE)).contains(&"held"));
    }
}
