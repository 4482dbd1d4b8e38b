//! What goes wrong, and how often.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use copart::protocol::ErrorCode;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    /// The connection ends, and the request has no effect.
    DisconnectBefore,
    /// The request has its effect, and the connection ends.
    DisconnectAfter,
    /// The broker takes so long that the client gives up, and does it then.
    Stall,
    /// An error that says that nothing was written.
    Refuse(ErrorCode),
    /// The request has its effect, and the answer is an error.
    ApplyThenRefuse(ErrorCode),
}

pub struct Faults {
    /// Of a thousand requests, how many go wrong.
    pub per_mille: u32,
    /// Of those that go wrong, how many leave the client in doubt.
    pub doubtful: bool,
    random: Mutex<fastrand::Rng>,
    over: AtomicBool,
}

impl Faults {
    pub fn new(seed: u64, per_mille: u32, doubtful: bool) -> Self {
        Self {
            per_mille,
            doubtful,
            random: Mutex::new(fastrand::Rng::with_seed(seed)),
            over: AtomicBool::new(false),
        }
    }

    /// From now on nothing goes wrong.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn strikes(&self, per_mille: u32) -> bool {
        !self.over.load(Ordering::Relaxed) && self.random.lock().unwrap().u32(..1000) < per_mille
    }

    pub fn latency(&self) -> Duration {
        let mut random = self.random.lock().unwrap();
        Duration::from_micros(match random.u32(..100) {
            0..80 => random.u64(100..1000),
            80..98 => random.u64(1000..10_000),
            _ => random.u64(10_000..300_000),
        })
    }

    pub fn refuses_connection(&self) -> bool {
        self.strikes(self.per_mille)
    }

    pub fn of_produce(&self) -> Fate {
        if !self.strikes(self.per_mille) {
            return Fate::Pass;
        }
        let choice = self
            .random
            .lock()
            .unwrap()
            .u32(..if self.doubtful { 9 } else { 4 });
        match choice {
            0 => Fate::Refuse(ErrorCode::NOT_LEADER_OR_FOLLOWER),
            1 => Fate::Refuse(ErrorCode::NOT_ENOUGH_REPLICAS),
            2 => Fate::Refuse(ErrorCode::LEADER_NOT_AVAILABLE),
            3 => Fate::DisconnectBefore,
            4 | 5 => Fate::DisconnectAfter,
            6 => Fate::Stall,
            7 => Fate::ApplyThenRefuse(ErrorCode::REQUEST_TIMED_OUT),
            _ => Fate::ApplyThenRefuse(ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        }
    }

    pub fn of_fetch(&self) -> Fate {
        if !self.strikes(self.per_mille) {
            return Fate::Pass;
        }
        match self.random.lock().unwrap().u32(..7) {
            0 => Fate::Refuse(ErrorCode::NOT_LEADER_OR_FOLLOWER),
            1 => Fate::Refuse(ErrorCode::KAFKA_STORAGE_ERROR),
            2 => Fate::Refuse(ErrorCode::UNKNOWN_TOPIC_ID),
            3 => Fate::Refuse(ErrorCode::FETCH_SESSION_ID_NOT_FOUND),
            4 => Fate::DisconnectBefore,
            5 => Fate::DisconnectAfter,
            _ => Fate::Stall,
        }
    }

    pub fn of_other(&self) -> Fate {
        if !self.strikes(self.per_mille / 2) {
            return Fate::Pass;
        }
        match self.random.lock().unwrap().u32(..3) {
            0 => Fate::DisconnectBefore,
            1 => Fate::DisconnectAfter,
            _ => Fate::Stall,
        }
    }
}
