//! The producer's id, asked for when the first batch needs it.

use std::sync::{Arc, Mutex, PoisonError};

use copart_protocol::messages::init_producer_id::InitProducerIdRequest;
use copart_protocol::{ApiKey, ErrorCode};
use tokio::time::Instant;

use super::core::ProducerId;
use super::shared::Shared;
use crate::cluster::{Cluster, Route};
use crate::{Error, ErrorKind, Result};

/// How far we are.
#[derive(Default)]
pub(crate) struct Identity(Mutex<State>);

#[derive(Default)]
enum State {
    /// Nobody has needed it.
    #[default]
    Unasked,
    /// A task asks until it gets one, or is refused.
    Asking,
    Ready(ProducerId),
    /// Refused. Asked again after a while, for permissions can change.
    Refused(Error, Instant),
}

impl Identity {
    /// The id if it is there; asked for if it is not. `Err` if it is refused.
    pub(crate) fn get(&self, shared: &Arc<Shared>) -> Result<Option<ProducerId>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Ready(id) => Ok(Some(*id)),
            State::Asking => Ok(None),
            State::Refused(error, until) if *until > Instant::now() => Err(error.clone()),
            State::Unasked | State::Refused(..) => {
                *state = State::Asking;
                shared.runtime.spawn(ask(Arc::clone(shared)));
                Ok(None)
            }
        }
    }

    /// Asks for another one in the place of `used_up`.
    pub(crate) fn replace(&self, used_up: ProducerId, shared: &Arc<Shared>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Ready(id) if *id == used_up) {
            *state = State::Asking;
            shared.runtime.spawn(ask(Arc::clone(shared)));
        }
    }

    fn set(&self, to: State) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }
}

async fn ask(shared: Arc<Shared>) {
    let mut failures = 0;
    loop {
        let asking = init_producer_id(&shared.cluster);
        let result = tokio::select! {
            result = asking => result,
            () = shared.stopped() => return,
        };
        match result {
            Ok(id) => {
                tracing::debug!(producer_id = id.id, epoch = id.epoch, "got a producer id");
                shared.identity.set(State::Ready(id));
                shared.set_last_error(None);
                break;
            }
            Err(error) if error.is_retriable() => {
                failures += 1;
                shared.set_last_error(Some(&error));
                tracing::warn!(%error, failures, "no producer id yet");
                tokio::select! {
                    () = tokio::time::sleep(shared.core_config.backoff.after(failures)) => {}
                    () = shared.stopped() => return,
                }
            }
            Err(error) => {
                let error = match error.kind() {
                    ErrorKind::UnsupportedVersion => Error::new(
                        ErrorKind::UnsupportedVersion,
                        format!(
                            "{}: the brokers cannot tell retries from new records; \
                             turn idempotence off if doubles do no harm",
                            error.reason()
                        ),
                    )
                    .caused_by(error),
                    _ => error,
                };
                tracing::error!(%error, "the brokers refuse a producer id");
                let until = Instant::now() + shared.core_config.backoff.after(u32::MAX);
                shared.identity.set(State::Refused(error, until));
                break;
            }
        }
    }
    shared.wake_all();
}

async fn init_producer_id(cluster: &Cluster) -> Result<ProducerId> {
    let connection = cluster.route(&Route::Any).await?;
    let request = InitProducerIdRequest {
        transactional_id: None,
        transaction_timeout_ms: i32::MAX,
        ..InitProducerIdRequest::default()
    };
    let response = connection.call(&request).await?;
    if response.error_code != ErrorCode::NONE {
        return Err(Error::from_code(response.error_code, None)
            .at_broker(Arc::clone(connection.broker()))
            .in_api(
                ApiKey::InitProducerId,
                connection.negotiate(ApiKey::InitProducerId, ApiKey::InitProducerId.versions())?,
            ));
    }
    if response.producer_id < 0 || response.producer_epoch < 0 {
        return Err(Error::new(
            ErrorKind::Protocol,
            format!(
                "the broker gave producer id {} with epoch {}",
                response.producer_id, response.producer_epoch
            ),
        ));
    }
    Ok(ProducerId {
        id: response.producer_id,
        epoch: response.producer_epoch,
    })
}
