//! Faults on request: what a client's error handling has to face.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use copart_protocol::{ApiKey, ErrorCode};

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Nothing happens to it.
    Pass,
    /// It waits, and so do those behind it on its connection.
    Delay(Duration),
    /// The connection is closed, and nothing was done.
    Disconnect,
    /// Nothing is done, and this is the answer, wherever an answer can have an error.
    Error(ErrorCode),
    /// It is carried out, and the connection is closed in the place of an answer.
    ApplyThenDisconnect,
}

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestInfo<'a> {
    /// The node that it arrived at.
    pub node: i32,
    /// Which API.
    pub api: ApiKey,
    /// In which version.
    pub version: i16,
    /// What the client calls itself.
    pub client_id: Option<&'a str>,
}

type Judge = Box<dyn FnMut(&RequestInfo<'_>) -> Fault + Send>;

/// The faults that were asked for.
#[derive(Default)]
pub(crate) struct Faults {
    /// Are there any? Asked for each request.
    armed: AtomicBool,
    rules: Mutex<Rules>,
}

#[derive(Default)]
struct Rules {
    judge: Option<Judge>,
    queued: VecDeque<Queued>,
}

struct Queued {
    api: ApiKey,
    node: Option<i32>,
    times: usize,
    fault: Fault,
}

impl Faults {
    /// The fault for a request. Faults that were queued come before those of the function.
    pub(crate) fn judge(&self, request: &RequestInfo<'_>) -> Fault {
        if !self.armed.load(Ordering::Acquire) {
            return Fault::Pass;
        }
        let mut rules = self.rules();
        let found = rules.queued.iter().position(|queued| {
            queued.api == request.api && queued.node.is_none_or(|node| node == request.node)
        });
        if let Some(index) = found {
            let queued = &mut rules.queued[index];
            let fault = queued.fault;
            queued.times -= 1;
            if queued.times == 0 {
                rules.queued.remove(index);
            }
            return fault;
        }
        match &mut rules.judge {
            Some(judge) => judge(request),
            None => Fault::Pass,
        }
    }

    pub(crate) fn queue(&self, api: ApiKey, node: Option<i32>, times: usize, fault: Fault) {
        if times == 0 {
            return;
        }
        self.rules().queued.push_back(Queued {
            api,
            node,
            times,
            fault,
        });
        self.armed.store(true, Ordering::Release);
    }

    pub(crate) fn set_judge(&self, judge: Judge) {
        self.rules().judge = Some(judge);
        self.armed.store(true, Ordering::Release);
    }

    pub(crate) fn clear(&self) {
        *self.rules() = Rules::default();
        self.armed.store(false, Ordering::Release);
    }

    fn rules(&self) -> MutexGuard<'_, Rules> {
        // A judge that panicked is a test that failed.
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults")
            .field("armed", &self.armed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queued_faults_are_used_up() {
        let faults = Faults::default();
        let request = |api, node| RequestInfo {
            node,
            api,
            version: 0,
            client_id: None,
        };
        let produce = request(ApiKey::Produce, 1);
        assert_eq!(faults.judge(&produce), Fault::Pass);
        faults.queue(ApiKey::Produce, Some(2), 1, Fault::Disconnect);
        faults.queue(
            ApiKey::Produce,
            None,
            2,
            Fault::Error(ErrorCode::REQUEST_TIMED_OUT),
        );
        faults.set_judge(Box::new(|request| match request.api {
            ApiKey::Fetch => Fault::ApplyThenDisconnect,
            _ => Fault::Pass,
        }));
        let timed_out = Fault::Error(ErrorCode::REQUEST_TIMED_OUT);
        assert_eq!(faults.judge(&produce), timed_out);
        assert_eq!(
            faults.judge(&request(ApiKey::Produce, 2)),
            Fault::Disconnect
        );
        assert_eq!(faults.judge(&request(ApiKey::Produce, 2)), timed_out);
        assert_eq!(faults.judge(&produce), Fault::Pass);
        let fetch = request(ApiKey::Fetch, 1);
        assert_eq!(faults.judge(&fetch), Fault::ApplyThenDisconnect);
        faults.clear();
        assert_eq!(faults.judge(&fetch), Fault::Pass);
    }
}
