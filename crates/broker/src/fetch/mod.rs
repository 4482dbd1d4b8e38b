//! What Fetch needs beyond the partitions' logs.

mod session;

pub(crate) use session::{Begun, Key, Sessions, Wanted};
