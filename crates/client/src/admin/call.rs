//! Carrying out a call: each item to the broker that it belongs to, together with others that go there, and
//! again when a broker says that it is the wrong one.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use copart_protocol::{ErrorCode, Request, VersionRange};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::work::Work;
use super::{Admin, Results};
use crate::client::bounded;
use crate::cluster::{Cluster, Route, Target};
use crate::{Error, ErrorKind, Result};

/// One kind of call: plain functions from items to a request, and from its answer to outcomes.
pub(super) trait Call: Send + Sync + 'static {
    /// The request that asks for items.
    type Request: Request<Response: Send> + Send + Sync;
    /// What names an item.
    type Key: Clone + Eq + Hash + Display + Send + Sync + 'static;
    /// What is told of an item.
    type Value: Send + 'static;

    /// Whether a request may be carried out twice. If not, it is not sent again when it is not known what
    /// became of it.
    const REPEATABLE: bool;

    /// The versions of the request that can be used.
    const VERSIONS: VersionRange = <Self::Request as copart_protocol::Body>::VERSIONS;

    /// Which broker an item belongs to.
    fn route(&self, key: &Self::Key) -> Route;

    /// How many items fit into one request.
    fn items_per_request(&self, _version: i16) -> usize {
        usize::MAX
    }

    /// Whether an item can be asked for in this version.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, _key: &Self::Key, _version: i16) -> Result<()> {
        Ok(())
    }

    /// Asks for these items. A broker may take `time` to carry it out, if the request says how long.
    fn request(&self, keys: &[Self::Key], version: i16, time: Time) -> Self::Request;

    /// Reads what the answer says of each item.
    fn answer(&self, response: Answered<Self>, found: &mut Found<Self::Key, Self::Value>);

    /// Adds to an error which item it is about.
    fn name(key: &Self::Key, error: Error) -> Error {
        error.in_topic(key.to_string())
    }
}

/// An answer, and what was asked for.
pub(super) struct Answered<C: Call + ?Sized> {
    pub(super) response: <C::Request as Request>::Response,
    pub(super) keys: Vec<C::Key>,
    pub(super) version: i16,
}

/// How long a broker may take.
#[derive(Clone, Copy)]
pub(super) struct Time(Duration);

impl Time {
    /// In milliseconds, a little less than what is waited for the answer: a broker that gives up has to be
    /// able to say so.
    pub(super) fn milliseconds(self) -> i32 {
        i32::try_from(self.0.mul_f64(0.9).as_millis()).unwrap_or(i32::MAX)
    }
}

/// What an answer says.
pub(super) struct Found<K, T> {
    items: Vec<(K, Result<T>)>,
    rest: Option<Error>,
    throttle: Duration,
}

impl<K, T> Found<K, T> {
    fn new() -> Self {
        Self {
            items: Vec::new(),
            rest: None,
            throttle: Duration::ZERO,
        }
    }

    /// The outcome of an item.
    pub(super) fn item(&mut self, key: K, outcome: Result<T>) {
        self.items.push((key, outcome));
    }

    /// What is told of items that are not told of one by one.
    pub(super) fn rest(&mut self, error: Error) {
        self.rest = Some(error);
    }

    /// How long the broker wants to be left alone, in milliseconds.
    pub(super) fn throttle(&mut self, milliseconds: i32) {
        self.throttle = Duration::from_millis(milliseconds.max(0).unsigned_abs().into());
    }
}

/// An error code with the broker's message as an outcome.
pub(super) fn outcome(code: ErrorCode, message: Option<&str>) -> Result<()> {
    if code.is_none() {
        Ok(())
    } else {
        Err(Error::from_code(code, message))
    }
}

/// Whether a leader that metadata names does not know of its partition yet. If it is the metadata that is old,
/// the next round finds no such topic.
fn is_behind(error: &Error, route: &Route) -> bool {
    error.code() == Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
        && matches!(route, Route::Leader(..))
}

/// After so many rounds, each with new metadata asked for, a node that no metadata names is taken for none.
const ROUNDS_TO_KNOW_BROKERS: u32 = 3;

impl Admin {
    /// Carries a call out for these items.
    ///
    /// Cancel-safe as far as the call itself is: requests that went out may be acted on.
    pub(super) async fn run<C: Call>(
        &self,
        call: C,
        keys: Vec<C::Key>,
    ) -> Results<C::Key, C::Value> {
        let deadline = Instant::now() + bounded(self.timeout);
        let call = Arc::new(call);
        let mut work = Work::new(keys, C::REPEATABLE);
        // So that the first metadata tells of all of them, and later ones too.
        let topics = work.waiting().into_iter().filter_map(|place| {
            let Route::Leader(topic, _) = call.route(work.key(place)) else {
                return None;
            };
            Some(topic)
        });
        let topics: HashSet<Arc<str>> = topics.collect();
        let _held: Vec<_> = topics
            .iter()
            .map(|topic| self.cluster.hold(topic))
            .collect();
        let mut round = 0;
        loop {
            let throttle = self.round(&call, &mut work, deadline, round).await;
            if work.waiting().is_empty() || Instant::now() >= deadline {
                break;
            }
            round += 1;
            self.cluster.refresh_soon();
            let pause = self.cluster.backoff().after(round).max(throttle);
            sleep_until(deadline.min(Instant::now() + pause)).await;
            if Instant::now() >= deadline {
                break;
            }
        }
        work.finish(self.timeout, C::name)
    }

    /// Asks once for everything that waits. Returns how long brokers want to be left alone.
    async fn round<C: Call>(
        &self,
        call: &Arc<C>,
        work: &mut Work<C::Key, C::Value>,
        deadline: Instant,
        round: u32,
    ) -> Duration {
        let mut requests = JoinSet::new();
        for (target, places) in self.targets(call, work, deadline, round).await {
            let keys: Vec<_> = places.iter().map(|&p| work.key(p).clone()).collect();
            places.iter().for_each(|&place| work.begin(place));
            let (cluster, call) = (self.cluster.clone(), Arc::clone(call));
            requests.spawn(async move { ask(&cluster, &*call, target, keys, deadline).await });
        }
        let mut throttle = Duration::ZERO;
        while let Ok(Some(asked)) = timeout_at(deadline, requests.join_next()).await {
            // A panic would be a bug in here; its items run out of time.
            let Ok(asked) = asked else { continue };
            for (keys, answer) in asked {
                let mut found = Found::new();
                match answer {
                    Ok(answered) => call.answer(answered, &mut found),
                    Err(error) => found.rest(error),
                }
                throttle = throttle.max(found.throttle);
                let mut told = HashSet::new();
                for (key, outcome) in found.items {
                    if let Some(place) = work.place(&key) {
                        told.insert(place);
                        self.look_at(call, &key, &outcome);
                        match outcome {
                            Err(error) if is_behind(&error, &call.route(&key)) => {
                                work.wait_after(place, error);
                            }
                            outcome => work.settle(place, outcome),
                        }
                    }
                }
                let rest = found.rest.unwrap_or_else(|| {
                    Error::new(
                        ErrorKind::Protocol,
                        "the broker's answer is silent about it",
                    )
                });
                let places = keys.iter().filter_map(|key| work.place(key));
                for place in places.filter(|p| !told.contains(p)).collect::<Vec<_>>() {
                    let outcome = Err(rest.clone());
                    self.look_at(call, work.key(place), &outcome);
                    work.settle(place, outcome);
                }
            }
        }
        throttle
    }

    /// Which items go where. What has no place to go is settled, or waits for the next round.
    async fn targets<C: Call>(
        &self,
        call: &Arc<C>,
        work: &mut Work<C::Key, C::Value>,
        deadline: Instant,
        round: u32,
    ) -> Vec<(Target, Vec<usize>)> {
        let mut targets: Vec<(Target, Vec<usize>)> = Vec::new();
        for place in work.waiting() {
            let route = call.route(work.key(place));
            if let Route::Node(id) = route
                && round >= ROUNDS_TO_KNOW_BROKERS
                && self.cluster.view().broker(id).is_none()
            {
                work.settle(place, Err(self.no_such_broker(id)));
                continue;
            }
            let located = timeout_at(deadline, self.cluster.locate(&route)).await;
            match located {
                Ok(Ok(target)) => match targets.iter_mut().find(|(known, _)| *known == target) {
                    Some((_, places)) => places.push(place),
                    None => targets.push((target, vec![place])),
                },
                Ok(Err(error)) => work.settle(place, Err(error)),
                Err(_) => break,
            }
        }
        targets
    }

    #[cold]
    fn no_such_broker(&self, id: i32) -> Error {
        let view = self.cluster.view();
        let known: Vec<_> = view.brokers().map(|broker| broker.id.to_string()).collect();
        let known = known.join(", ");
        Error::new(
            ErrorKind::Config,
            format!("node {id} is not a broker of the cluster; its brokers are {known}"),
        )
    }

    /// Forgets what an outcome shows to be out of date.
    fn look_at<C: Call>(&self, call: &Arc<C>, key: &C::Key, outcome: &Result<C::Value>) {
        let Err(error) = outcome else { return };
        let lost = matches!(
            error.code(),
            Some(ErrorCode::NOT_COORDINATOR | ErrorCode::COORDINATOR_NOT_AVAILABLE)
        ) || matches!(error.kind(), ErrorKind::Connect | ErrorKind::Disconnected);
        if lost && let Route::Coordinator(of) = call.route(key) {
            self.cluster.forget_coordinator(&of);
        }
    }
}

/// What was asked for together, and the answer.
type Asked<C> = Vec<(Vec<<C as Call>::Key>, Result<Answered<C>>)>;

/// Asks one broker for these items, in as many requests as it takes.
async fn ask<C: Call>(
    cluster: &Cluster,
    call: &C,
    target: Target,
    keys: Vec<C::Key>,
    deadline: Instant,
) -> Asked<C> {
    let connected = async {
        let connection = cluster.reach(target).await?;
        let version = connection.negotiate(C::Request::API, C::VERSIONS)?;
        Ok((connection, version))
    };
    let (connection, version) = match connected.await {
        Ok(connected) => connected,
        Err(error) => return vec![(keys, Err(error))],
    };
    let mut asked = Vec::new();
    let mut fit = Vec::with_capacity(keys.len());
    for key in keys {
        match call.check(&key, version) {
            Ok(()) => fit.push(key),
            Err(error) => asked.push((vec![key], Err(error))),
        }
    }
    for keys in fit.chunks(call.items_per_request(version).max(1)) {
        let time = cluster
            .request_timeout()
            .min(deadline.saturating_duration_since(Instant::now()));
        let answer = async {
            let request = call.request(keys, version, Time(time));
            let response = connection.send(version, &request, time)?.await?;
            Ok(Answered {
                response,
                keys: keys.to_vec(),
                version,
            })
        };
        asked.push((keys.to_vec(), answer.await));
    }
    asked
}
