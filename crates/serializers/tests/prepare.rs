//! A serializer that needs a schema's id first: what a registry will be, played with a table. It shows what a
//! client does with `prepare`, and that nothing waits where records are written and read.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};

use copart_serializers::{
    AddedHeaders, Context, Deserialize, Error, ErrorKind, Format, Json, Payload, Preparation,
    Result, Serialize, Sink,
};

const SCHEMA_ID: &str = "schema-id";

/// Text with the id of its topic's schema in a header. Ids are known only after they were fetched.
#[derive(Default)]
struct Registered {
    ids: Mutex<HashMap<String, u8>>,
    schemas: Mutex<HashMap<u8, &'static str>>,
    down: bool,
}

impl Registered {
    async fn fetch(&self, context: &Context<'_>) -> Result<()> {
        if self.down {
            return Err(Error::new(
                ErrorKind::Unavailable,
                context,
                "the registry does not answer",
            ));
        }
        // What a request is: it takes more than one poll.
        let mut asked = false;
        poll_fn(|task| {
            if std::mem::replace(&mut asked, true) {
                return Poll::Ready(());
            }
            task.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        match context.header(SCHEMA_ID) {
            Some(&[id]) => {
                self.schemas
                    .lock()
                    .expect("not poisoned")
                    .insert(id, "text");
            }
            _ => {
                self.ids
                    .lock()
                    .expect("not poisoned")
                    .insert(context.topic().to_owned(), 7);
            }
        }
        Ok(())
    }
}

impl Format for Registered {
    fn prepare<'a>(
        &'a self,
        context: &'a Context<'a>,
        _: Option<Payload<'a>>,
    ) -> Option<Preparation<'a>> {
        Some(Box::pin(self.fetch(context)))
    }
}

impl Serialize<str> for Registered {
    fn serialize(&self, context: &Context<'_>, value: &str, out: &mut Sink<'_>) -> Result<()> {
        let id = self
            .ids
            .lock()
            .expect("not poisoned")
            .get(context.topic())
            .copied();
        let id = id.ok_or_else(|| {
            Error::new(
                ErrorKind::Unprepared,
                context,
                "the schema's id is not known yet",
            )
        })?;
        out.add_header(context, SCHEMA_ID, &[id])?;
        out.put(value.as_bytes());
        Ok(())
    }
}

impl Deserialize for Registered {
    type Value = String;

    fn deserialize(&self, context: &Context<'_>, payload: Payload<'_>) -> Result<String> {
        let Some(&[id]) = context.header(SCHEMA_ID) else {
            return Err(Error::new(ErrorKind::Malformed, context, "no schema id"));
        };
        if !self.schemas.lock().expect("not poisoned").contains_key(&id) {
            return Err(Error::new(
                ErrorKind::Unprepared,
                context,
                format!("schema {id} is not known yet"),
            ));
        }
        copart_serializers::Utf8.deserialize(context, payload)
    }
}

fn run(mut preparation: Preparation<'_>) -> Result<()> {
    let mut task = TaskContext::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = preparation.as_mut().poll(&mut task) {
            return result;
        }
    }
}

fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.expect_err("an error").kind()
}

#[test]
fn a_producer_prepares_once_and_then_never_waits() {
    let format = Registered::default();
    let context = Context::key("orders");
    let (mut buffer, mut headers) = (Vec::new(), AddedHeaders::new());
    let write = |buffer: &mut Vec<u8>, headers: &mut AddedHeaders| {
        format.serialize(&context, "text", &mut Sink::with_headers(buffer, headers))
    };
    assert_eq!(
        kind(write(&mut buffer, &mut headers)),
        ErrorKind::Unprepared
    );

    // Dropped before its end, it has done nothing, and can be asked for again.
    let mut dropped = format.prepare(&context, None).expect("something to fetch");
    assert!(
        dropped
            .as_mut()
            .poll(&mut TaskContext::from_waker(Waker::noop()))
            .is_pending()
    );
    drop(dropped);
    assert_eq!(
        kind(write(&mut buffer, &mut headers)),
        ErrorKind::Unprepared
    );
    assert!(buffer.is_empty() && headers.is_empty());

    run(format.prepare(&context, None).expect("something to fetch")).expect("fetched");
    write(&mut buffer, &mut headers).expect("prepared");
    assert_eq!(buffer, b"text");
    assert_eq!(headers.iter().collect::<Vec<_>>(), [(SCHEMA_ID, &[7][..])]);

    // Another topic has another id.
    assert_eq!(
        kind(format.to_vec(&Context::key("clicks"), "text")),
        ErrorKind::Unprepared
    );
    // Without a place for the header the id would be lost.
    assert_eq!(
        kind(format.to_vec(&context, "text")),
        ErrorKind::Unserializable
    );
}

#[test]
fn a_consumer_prepares_when_a_record_asks_for_it() {
    let format = Registered::default();
    let headers = [(SCHEMA_ID, Some(&[7][..]))];
    let context = Context::key("orders").with_headers(&headers);
    let payload = Payload::new(b"text");
    assert_eq!(
        kind(format.deserialize(&context, payload)),
        ErrorKind::Unprepared
    );
    run(format
        .prepare(&context, Some(payload))
        .expect("something to fetch"))
    .expect("fetched");
    assert_eq!(
        format.deserialize(&context, payload).expect("prepared"),
        "text"
    );
}

#[test]
fn a_registry_that_is_down_can_be_asked_again() {
    let format = Registered {
        down: true,
        ..Registered::default()
    };
    let context = Context::key("orders");
    let error = run(format.prepare(&context, None).expect("something to fetch")).expect_err("down");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.is_retriable());
}

#[test]
fn built_in_formats_have_nothing_to_prepare() {
    let context = Context::key("orders");
    assert!(Json::<u8>::new().prepare(&context, None).is_none());
    assert!(
        copart_serializers::List(copart_serializers::Utf8)
            .prepare(&context, None)
            .is_none()
    );
}

/// Wrapping keeps what the format inside needs.
#[test]
fn wrappers_and_pointers_prepare_what_is_inside() {
    let inner = Arc::new(Registered::default());
    let context = Context::key("orders");
    let wrapped = copart_serializers::Optional(copart_serializers::List(Arc::clone(&inner)));
    run(wrapped.prepare(&context, None).expect("something to fetch")).expect("fetched");
    assert_eq!(
        inner.ids.lock().expect("not poisoned").get("orders"),
        Some(&7)
    );
}
