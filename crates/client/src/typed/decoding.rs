//! One batch on its way from bytes to values.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use copart_serializers::{Deserialize, Error as SerdeError, ErrorKind as SerdeKind, Part};

use super::decoder::{Decoder, Verdict};
use super::record::TypedRecord;
use crate::net::BoxFuture;
use crate::producer::Delivery;
use crate::{Error, OwnedRecord, Result, TopicPartition};

/// A batch that is taken apart.
pub(crate) trait Lot: Unpin {
    type Record: AsRef<OwnedRecord>;

    /// The next record.
    fn next(&mut self) -> Option<Self::Record>;

    /// The offset of the next record.
    fn peek(&self) -> Option<i64>;

    fn is_of(&self, partition: &TopicPartition) -> bool;

    /// Whether it is still to be read: the partition was neither taken away nor sought elsewhere.
    fn is_current(&self) -> bool;

    /// A record is dealt with, and the program does not get it.
    fn settle(&self, record: &Self::Record);

    /// Nothing more of the partition is read from this record on.
    fn stop(&self, record: &Self::Record);

    /// The program gets a record.
    fn hand_out(record: &mut Self::Record);
}

/// A record that goes to the dead-letter topic.
struct Letter<R> {
    record: R,
    error: SerdeError,
}

/// Why decoding ended before the end of the batch.
enum Obstacle<R> {
    /// Reading stops before this record.
    Stop(R, Error),
    /// `current` is tried again.
    Again(Error),
}

/// What could be read of a batch.
type Records<L, K, V> =
    Vec<TypedRecord<<K as Deserialize>::Value, <V as Deserialize>::Value, <L as Lot>::Record>>;

/// What is still to be done of a batch. First what can be read goes out, then what can't be is set aside, then
/// the program is told of what stopped it.
pub(crate) struct Decoding<L: Lot, K: Deserialize, V: Deserialize> {
    lot: L,
    /// The record that a deserializer is being prepared for.
    current: Option<L::Record>,
    preparing: Option<BoxFuture<'static, Result<(), SerdeError>>>,
    /// Which part's deserializer was prepared for `current`.
    prepared: Vec<Part>,
    read: Records<L, K, V>,
    /// To be written.
    letters: VecDeque<Letter<L::Record>>,
    writing: Option<BoxFuture<'static, Result<Delivery>>>,
    /// Written, and not acknowledged yet.
    sent: VecDeque<(Letter<L::Record>, Delivery)>,
    obstacle: Option<Obstacle<L::Record>>,
}

/// What of it must not move is boxed.
impl<L: Lot, K: Deserialize, V: Deserialize> Unpin for Decoding<L, K, V> {}

impl<L: Lot, K: Deserialize + 'static, V: Deserialize + 'static> Decoding<L, K, V> {
    pub(crate) fn new(lot: L) -> Self {
        Self {
            lot,
            current: None,
            preparing: None,
            prepared: Vec::new(),
            read: Vec::new(),
            letters: VecDeque::new(),
            writing: None,
            sent: VecDeque::new(),
            obstacle: None,
        }
    }

    pub(crate) fn lot(&self) -> &L {
        &self.lot
    }

    /// Nothing is left of it.
    pub(crate) fn is_over(&self) -> bool {
        self.current.is_none()
            && self.read.is_empty()
            && self.letters.is_empty()
            && self.sent.is_empty()
            && self.obstacle.is_none()
            && self.lot.peek().is_none()
    }

    /// The first offset that the program does not have, and that is not dealt with otherwise.
    pub(crate) fn first_open(&self) -> Option<i64> {
        let of = |record: &L::Record| record.as_ref().offset();
        let stopped = match &self.obstacle {
            Some(Obstacle::Stop(record, _)) => Some(of(record)),
            _ => None,
        };
        [
            self.read.first().map(TypedRecord::offset),
            self.sent.iter().map(|(letter, _)| of(&letter.record)).min(),
            self.letters.iter().map(|letter| of(&letter.record)).min(),
            self.current.as_ref().map(of),
            stopped,
            self.lot.peek(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The next records of the batch. `None` at its end; after an error it goes on where it was, unless reading stops.
    pub(crate) fn poll(
        &mut self,
        decoder: &Arc<Decoder<K, V>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Records<L, K, V>>>> {
        if self.obstacle.is_none() {
            ready!(self.poll_read(decoder, cx));
        }
        if !self.read.is_empty() {
            return Poll::Ready(Ok(Some(std::mem::take(&mut self.read))));
        }
        ready!(self.poll_letters(decoder, cx))?;
        match self.obstacle.take() {
            None => Poll::Ready(Ok(None)),
            Some(Obstacle::Again(error)) => Poll::Ready(Err(error)),
            Some(Obstacle::Stop(record, error)) => {
                self.lot.stop(&record);
                drop(record);
                // The rest is not for now.
                while self.lot.next().is_some() {}
                Poll::Ready(Err(error))
            }
        }
    }

    /// Decodes up to the end or an obstacle.
    fn poll_read(&mut self, decoder: &Arc<Decoder<K, V>>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(preparing) = &mut self.preparing {
                let outcome = ready!(preparing.as_mut().poll(cx));
                self.preparing = None;
                if let Err(error) = outcome
                    && let Some(record) = self.current.take()
                {
                    self.fails(decoder, record, error);
                }
            }
            if self.obstacle.is_some() {
                return Poll::Ready(());
            }
            let record = match self.current.take() {
                Some(record) => record,
                None => {
                    self.prepared.clear();
                    match self.lot.next() {
                        Some(record) => record,
                        None => return Poll::Ready(()),
                    }
                }
            };
            match decoder.read(record.as_ref()) {
                Ok((key, value)) => self.read.push(TypedRecord::new(key, value, record)),
                Err(error)
                    if error.kind() == SerdeKind::Unprepared
                        && !self.prepared.contains(&error.part()) =>
                {
                    self.prepared.push(error.part());
                    self.preparing = Some(decoder.prepare(record.as_ref(), error.part()));
                    self.current = Some(record);
                }
                Err(error) => self.fails(decoder, record, error),
            }
        }
    }

    /// A record can't be decoded, now or ever.
    fn fails(&mut self, decoder: &Decoder<K, V>, record: L::Record, error: SerdeError) {
        match decoder.verdict(record.as_ref(), &error) {
            Verdict::Skip => {
                decoder.report(record.as_ref(), &error, "skipped");
                self.lot.settle(&record);
            }
            Verdict::SetAside => self.letters.push_back(Letter { record, error }),
            Verdict::Stop => {
                decoder.report(record.as_ref(), &error, "failed");
                let error = decoder.tell(record.as_ref(), error);
                self.obstacle = Some(Obstacle::Stop(record, error));
            }
            Verdict::Again => {
                let error = decoder.tell(record.as_ref(), error);
                self.prepared.clear();
                self.current = Some(record);
                self.obstacle = Some(Obstacle::Again(error));
            }
        }
    }

    /// Writes what is to be set aside, all at once, and waits until it is.
    fn poll_letters(&mut self, decoder: &Decoder<K, V>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(letter) = self.letters.front() {
            let writing = match &mut self.writing {
                Some(writing) => writing,
                none => {
                    let Some(future) = decoder.letter(letter.record.as_ref(), &letter.error) else {
                        // The policy that set it aside is the decoder's for good.
                        return Poll::Ready(Ok(()));
                    };
                    none.insert(future)
                }
            };
            let outcome = ready!(writing.as_mut().poll(cx));
            self.writing = None;
            match outcome {
                Ok(delivery) => {
                    if let Some(letter) = self.letters.pop_front() {
                        self.sent.push_back((letter, delivery));
                    }
                }
                Err(error) => {
                    let error = decoder.not_set_aside(letter.record.as_ref(), error);
                    return Poll::Ready(Err(error));
                }
            }
        }
        while let Some((_, delivery)) = self.sent.front_mut() {
            let outcome = ready!(Pin::new(delivery).poll(cx));
            let Some((letter, _)) = self.sent.pop_front() else {
                break;
            };
            match outcome {
                Ok(_) => {
                    decoder.report(letter.record.as_ref(), &letter.error, "dead_lettered");
                    self.lot.settle(&letter.record);
                }
                Err(error) => {
                    let error = decoder.not_set_aside(letter.record.as_ref(), error);
                    self.letters.push_back(letter);
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}
