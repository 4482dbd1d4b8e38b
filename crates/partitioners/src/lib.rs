//! Which partition does each Kafka client give a key?
//!
//! A Kafka broker never decides: the producer's client library does, and libraries differ. This
//! crate holds what each of them does as data, a [`Profile`], and computes its placements bit for
//! bit. It does no I/O, allocates nothing, and is `no_std` without its default feature `std`.
//!
//! A client's behaviour is more than a hash. A profile says which of the key's bytes are hashed
//! ([`KeyView`]), with which function ([`Hash`](enum@Hash)), how the hash becomes a partition
//! ([`Reduction`]), and what happens to empty and to null keys ([`KeylessRule`]). The
//! [`catalogue`] has a profile for each client, the versions it holds for, the configuration that
//! selects it, and the vectors that prove it.
//!
//! ```
//! use copart_partitioners::{PartitionCount, Placement, catalogue};
//!
//! let n = PartitionCount::new(25).unwrap();
//! let place = |client: &str| catalogue::find(client).unwrap().profile.place(Some(b"mk-123456"), n);
//! assert_eq!(place("ruby-kafka"), Placement::Pinned(3));
//! assert_eq!(place("java"), Placement::Pinned(5));
//! ```
#![no_std]

#[cfg(any(feature = "std", test))]
extern crate std;

pub mod catalogue;
mod count;
mod custom;
pub mod hash;
mod key_view;
mod profile;
mod reduction;
mod version;

pub use count::PartitionCount;
pub use custom::ParseProfileError;
pub use hash::{Hash, HashValue};
pub use key_view::KeyView;
pub use profile::{KeyedRule, KeylessRule, Placement, Profile, Spread};
pub use reduction::Reduction;
pub use version::{Version, VersionRange};
