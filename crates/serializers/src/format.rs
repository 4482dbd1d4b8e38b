//! What the two directions of a format have in common.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{Context, Payload, Result};

/// A fetch that has to end before serializing or deserializing can go on.
pub type Preparation<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A serializer, a deserializer, or both.
///
/// All methods have a default that is right for a format that needs nothing:
/// `impl Format for MyFormat {}`.
pub trait Format: Send + Sync {
    /// How many bytes every value has that is not null, if that is fixed. A
    /// [`List`](crate::List) leaves lengths out then, as Java's does for its
    /// own serializers.
    fn fixed_len(&self) -> Option<usize> {
        None
    }

    /// What has to be fetched before records of this topic can be written, or
    /// before `payload` can be read. `None`: nothing.
    ///
    /// Serializing and deserializing don't wait. What they need from elsewhere,
    /// such as the id of a schema, is fetched here and kept. The caller awaits
    /// it before the first record of a topic, and again when a call failed with
    /// [`Unprepared`](crate::ErrorKind::Unprepared); then it tries that call
    /// once more.
    ///
    /// # Errors
    /// The future fails with [`Unavailable`](crate::ErrorKind::Unavailable) if
    /// it may succeed later.
    ///
    /// # Cancel safety
    /// The future may be dropped. What was not fetched by then is asked for
    /// again; implementations keep that promise.
    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        payload: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        let _ = (context, payload);
        None
    }
}

macro_rules! delegate {
    ($($pointer:ty),+) => {
        $(impl<S: Format + ?Sized> Format for $pointer {
            #[inline]
            fn fixed_len(&self) -> Option<usize> {
                (**self).fixed_len()
            }

            fn prepare<'a>(
                &'a self,
                context: &'a Context<'a>,
                payload: Option<Payload<'a>>,
            ) -> Option<Preparation<'a>> {
                (**self).prepare(context, payload)
            }
        })+
    };
}

delegate!(&S, Box<S>, Arc<S>);
