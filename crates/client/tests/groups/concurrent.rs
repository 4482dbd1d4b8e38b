//! Many records at a time.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use copart::{Error, Partitioning, ProducerRecord};

use crate::support::{PROTOCOLS, TOPIC, broker, client, close, committed, consumer, number, soon};

/// At work now, and at most; per key what was done.
type State = (i32, i32, HashMap<Vec<u8>, Vec<u64>>);

#[derive(Debug)]
enum Failure {
    Here(u64),
    Consumer(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Consumer(error)
    }
}

#[tokio::test]
async fn keys_are_in_parallel_and_each_is_in_order() {
    let broker = broker().topic(TOPIC, 2).start().await.expect("starts");
    let client = client(&broker).await;
    let producer = client
        .producer()
        .partitioner(Partitioning::like("java").expect("known"));
    let producer = producer.build().expect("good");
    const COUNT: u64 = 300;
    for number in 0..COUNT {
        let key = format!("key-{}", number % 10);
        let record = ProducerRecord::to(TOPIC).key(key).value(number.to_string());
        drop(producer.enqueue(record).await.expect("taken"));
    }
    producer.flush().await.expect("written");
    let mut one = consumer(&client, PROTOCOLS[1]);
    let limit = NonZeroUsize::new(8).expect("some");
    let state = Arc::new(Mutex::new(State::default()));
    let failed_once = Arc::new(Mutex::new(false));
    let run = |state: &Arc<Mutex<_>>| {
        let (state, failed_once) = (Arc::clone(state), Arc::clone(&failed_once));
        move |record: Arc<copart::GroupRecord>| {
            let (state, failed_once) = (Arc::clone(&state), Arc::clone(&failed_once));
            async move {
                {
                    let mut state: MutexGuard<'_, State> = state.lock().expect("no panic");
                    state.0 += 1;
                    state.1 = state.1.max(state.0);
                }
                let number = number(record.value());
                tokio::time::sleep(Duration::from_millis(number % 3)).await;
                let mut state = state.lock().expect("no panic");
                state.0 -= 1;
                if number == 157
                    && !std::mem::replace(&mut *failed_once.lock().expect("no panic"), true)
                {
                    return Err(Failure::Here(number));
                }
                let key = record.key().expect("a key").to_vec();
                let done = state.2.entry(key).or_default();
                // A record may come twice after a failure, but never before one that was before it.
                if done.last().is_none_or(|last| *last < number) {
                    done.push(number);
                }
                Ok(())
            }
        }
    };
    let outcome = soon("a failure", one.for_each_concurrent(limit, run(&state))).await;
    match outcome.expect_err("one failed") {
        Failure::Here(number) => assert_eq!(number, 157),
        Failure::Consumer(error) => panic!("{error}"),
    }
    state.lock().expect("no panic").0 = 0;
    let all = |state: &Mutex<State>| {
        let state = state.lock().expect("no panic");
        state.2.values().map(Vec::len).sum::<usize>()
    };
    let rest = async {
        tokio::select! {
            outcome = one.for_each_concurrent(limit, run(&state)) => panic!("{outcome:?}"),
            () = async {
                while all(&state) < COUNT as usize {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                // The last ones are marked as done by whoever polls.
                tokio::time::sleep(Duration::from_millis(50)).await;
            } => {}
        }
    };
    soon("the rest", rest).await;
    {
        let state = state.lock().expect("no panic");
        assert!(state.1 > 1 && state.1 <= 8, "{}", state.1);
        for (key, done) in &state.2 {
            assert_eq!(done.len(), 30, "{key:?}: {done:?}");
        }
    }
    let mut total = 0;
    one.commit().await.expect("committed");
    for partition in 0..2 {
        total += committed(&one, partition).await.map_or(0, |it| it.offset);
    }
    assert_eq!(total, COUNT as i64);
    close(one).await;
}
