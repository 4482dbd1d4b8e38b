//! What can be seen of a client from outside, and code of the user's that looks on.
//!
//! - [`interceptor`]: code that sees each record and each outcome.
//! - [`trace_context`]: W3C trace headers.
//! - [`spans`]: `tracing` spans with OpenTelemetry's names.
//! - [`names`]: counters and histograms.

mod interceptor;
pub(crate) mod names;
pub(crate) mod spans;
mod trace_context;

pub(crate) use interceptor::Interceptors;
pub use interceptor::{Acknowledgement, Interceptor, OutgoingRecord};
pub use names::describe_metrics;
pub use trace_context::{TraceContext, TraceInjector};
