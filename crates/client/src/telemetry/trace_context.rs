//! Trace contexts in record headers, as W3C writes them.
//!
//! <https://www.w3.org/TR/trace-context/>: `traceparent` is `00-TRACE_ID-SPAN_ID-FLAGS` in lower-case
//! hexadecimal; `tracestate` is a list that vendors keep for themselves.

use std::fmt;

use super::interceptor::{Interceptor, OutgoingRecord};

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";
/// Of version 00, and of what later versions begin with.
const PARENT_LEN: usize = 55;
/// What W3C asks everybody to pass on.
const MAX_STATE: usize = 512;

/// Which trace, and which span of it, something belongs to.
///
/// ```
/// use copart::TraceContext;
///
/// let context = TraceContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None)
///     .expect("a trace context");
/// assert!(context.is_sampled());
/// assert_eq!(context.to_string(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    flags: u8,
    state: String,
}

impl TraceContext {
    /// A context by its parts. `None` if an id is all zeros, which W3C has stand for "none".
    pub fn new(trace_id: [u8; 16], span_id: [u8; 8], sampled: bool) -> Option<Self> {
        (trace_id != [0; 16] && span_id != [0; 8]).then_some(Self {
            trace_id,
            span_id,
            flags: u8::from(sampled),
            state: String::new(),
        })
    }

    /// Adds what the `tracestate` header says. What is longer than 512 bytes or not printable ASCII is left
    /// out.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        let state = state.into();
        let printable = state.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        self.state = if printable && state.len() <= MAX_STATE {
            state
        } else {
            String::new()
        };
        self
    }

    /// Reads a `traceparent` header, and a `tracestate` header if there is one. `None` if it is not one: then
    /// W3C has the receiver start a trace of its own.
    pub fn parse(parent: &str, state: Option<&str>) -> Option<Self> {
        let bytes = parent.as_bytes();
        let version = hex::<1>(bytes.get(..2)?)?[0];
        let extended = version > 0 && bytes.get(PARENT_LEN) == Some(&b'-');
        if version == 0xff || (bytes.len() != PARENT_LEN && !extended) {
            return None;
        }
        let hyphens = [2, 35, 52].iter().all(|&at| bytes[at] == b'-');
        if !hyphens {
            return None;
        }
        let flags = hex::<1>(&bytes[53..55])?[0];
        let context = Self::new(hex(&bytes[3..35])?, hex(&bytes[36..52])?, flags & 1 != 0)?;
        Some(context.with_state(state.unwrap_or_default()))
    }

    /// The trace.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// The span.
    pub fn span_id(&self) -> [u8; 8] {
        self.span_id
    }

    /// Whether the caller records the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 != 0
    }

    /// What the `tracestate` header says; empty if there is none.
    pub fn state(&self) -> &str {
        &self.state
    }
}

/// As the `traceparent` header has it.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
        write!(
            f,
            "00-{}-{}-{:02x}",
            hex(&self.trace_id),
            hex(&self.span_id),
            self.flags
        )
    }
}

/// Lower case only, as W3C has it.
fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    data_encoding::HEXLOWER
        .decode_mut(text, &mut bytes)
        .is_ok()
        .then_some(bytes)
}

/// An [`Interceptor`] that gives each record the trace context that it is sent in, unless it has one.
///
/// Where the context comes from is up to the program, so that no tracing library has to be the client's. With
/// `tracing-opentelemetry`:
///
/// ```ignore
/// let injector = TraceInjector::new(|| {
///     let context = tracing::Span::current().context();
///     let span = context.span().span_context().clone();
///     let ids = (span.trace_id().to_bytes(), span.span_id().to_bytes());
///     TraceContext::new(ids.0, ids.1, span.is_sampled())
///         .map(|context| context.with_state(span.trace_state().header()))
/// });
/// let producer = client.producer().interceptor(injector).partitioner(partitioning).build()?;
/// ```
pub struct TraceInjector<F> {
    current: F,
}

impl<F> TraceInjector<F>
where
    F: Fn() -> Option<TraceContext> + Send + Sync + 'static,
{
    /// Asks `current` for the context, on the thread that sends.
    pub fn new(current: F) -> Self {
        Self { current }
    }
}

impl<F> Interceptor for TraceInjector<F>
where
    F: Fn() -> Option<TraceContext> + Send + Sync + 'static,
{
    fn on_send(&self, record: &mut OutgoingRecord<'_>) {
        if record.has_header(PARENT) {
            return;
        }
        let Some(context) = (self.current)() else {
            return;
        };
        record.add_header(PARENT, context.to_string().as_bytes());
        if !context.state.is_empty() {
            record.set_header(STATE, context.state.as_bytes());
        }
    }
}

impl<F> fmt::Debug for TraceInjector<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceInjector").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn reads_what_w3c_writes() {
        let context = TraceContext::parse(GOOD, Some("vendor=1")).expect("good");
        assert_eq!(context.to_string(), GOOD);
        assert_eq!(context.state(), "vendor=1");
        assert_eq!(context.span_id()[..2], [0x00, 0xf0]);
        // A later version may have more behind it, and comes out as ours.
        let later = format!("01{}-more", &GOOD[2..]);
        assert_eq!(
            TraceContext::parse(&later, None).expect("good").to_string(),
            GOOD
        );
        let unsampled = GOOD.replace("-01", "-02");
        assert!(
            !TraceContext::parse(&unsampled, None)
                .expect("good")
                .is_sampled()
        );
    }

    #[test]
    fn refuses_what_is_none() {
        for bad in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0é",
        ] {
            assert_eq!(TraceContext::parse(bad, None), None, "{bad}");
        }
        let long = TraceContext::parse(GOOD, Some(&"x".repeat(513))).expect("good");
        assert_eq!(long.state(), "");
    }
}
