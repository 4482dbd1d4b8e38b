//! What a team expects of groups when it builds its services on them, in both of Kafka's group protocols: services that
//! share a topic without knowing of each other, one that comes late, a member that dies, members that have nothing to do,
//! and a broker that is restarted.

mod support;

use std::collections::BTreeSet;

use copart_broker::Broker;
use support::{
    PROTOCOLS, Service, Views, broker, client, close, committed, drain, next, soon, take, views,
    write,
};

/// What two services and a late one make of one topic.
#[tokio::test]
async fn services_share_a_topic_and_a_late_one_begins_at_the_beginning() {
    for protocol in PROTOCOLS {
        let broker = broker()
            .topic("page-views", 4)
            .start()
            .await
            .expect("starts");
        let client = client(&broker).await;
        let billing = Service::new(&client, "billing", protocol);
        let search = Service::new(&client, "search", protocol);
        write(&client, 0..40).await;
        let (mut one, mut two) = (billing.member(), search.member());
        assert_eq!(take(&mut one, 40).await, views(0..40), "{protocol:?}");
        assert_eq!(take(&mut two, 40).await, views(0..40), "{protocol:?}");
        // One of them is away for a while, which the other does not notice.
        close(two).await;
        write(&client, 40..60).await;
        assert_eq!(take(&mut one, 20).await, views(40..60), "{protocol:?}");
        one.commit().await.expect("committed");

        let fraud = Service::new(&client, "fraud", protocol);
        let mut late = fraud.member();
        assert_eq!(take(&mut late, 60).await, views(0..60), "{protocol:?}");
        // The others are where they were.
        assert_eq!(committed(&client, "billing").await, 60);
        assert_eq!(committed(&client, "search").await, 40);
        let mut two = search.member();
        assert_eq!(take(&mut two, 20).await, views(40..60), "{protocol:?}");
        assert!(drain(&mut one).await.is_empty(), "nothing comes twice");
        for consumer in [one, two, late] {
            close(consumer).await;
        }
    }
}

/// A member dies with a batch half processed: the others do the rest, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_dies_in_the_middle_of_a_batch_and_nothing_is_lost() {
    for protocol in PROTOCOLS {
        let broker = broker()
            .topic("page-views", 4)
            .start()
            .await
            .expect("starts");
        let client = client(&broker).await;
        let billing = Service::new(&client, "billing", protocol);
        write(&client, 0..80).await;
        // It has all partitions, has done some batches, and half of the next one.
        let (runtime, mut doomed) = billing.doomed(&broker);
        let mut done = take(&mut doomed, 20).await;
        let begun = next(&mut doomed).await;
        let half = begun.len() / 2;
        assert!(half > 0, "a batch of one record has no middle");
        done.extend(
            begun
                .records()
                .take(half)
                .map(|record| support::view(&record)),
        );
        begun.done_to(begun.get(half).expect("one").offset());
        soon("committed", doomed.commit()).await.expect("committed");
        runtime.shutdown_background();

        let (mut one, mut two) = (billing.member(), billing.member());
        let mut rest = Views::new();
        let mut count = 0;
        while rest.len() < 80 - done.len() {
            for consumer in [&mut one, &mut two] {
                let some = drain(consumer).await;
                count += some.len();
                rest.extend(some);
            }
        }
        assert!(
            rest.is_disjoint(&done),
            "{protocol:?}: what was committed comes again"
        );
        assert_eq!(&rest | &done, views(0..80), "{protocol:?}");
        assert_eq!(count, rest.len(), "{protocol:?}: something came twice");
        close(one).await;
        close(two).await;
    }
}

/// Three consumers, two partitions: one waits, and takes over when it is needed.
#[tokio::test]
async fn consumers_beyond_the_partitions_stay_idle_until_they_are_needed() {
    for protocol in PROTOCOLS {
        let broker = broker()
            .topic("page-views", 2)
            .start()
            .await
            .expect("starts");
        let client = client(&broker).await;
        let billing = Service::new(&client, "billing", protocol);
        let mut members = vec![billing.member(), billing.member(), billing.member()];
        support::settled(&mut members, 2).await;
        write(&client, 0..30).await;
        let mut seen = Views::new();
        while seen.len() < 30 {
            for member in &mut members {
                let has_none = member.assignment().is_empty();
                let some = drain(member).await;
                assert!(
                    some.is_empty() || !has_none,
                    "{protocol:?}: an idle one got records"
                );
                seen.extend(some);
            }
        }
        assert_eq!(seen, views(0..30), "{protocol:?}");
        let idle = members.iter().filter(|m| m.assignment().is_empty());
        assert_eq!(idle.count(), 1, "{protocol:?}");

        let busy = members.iter().position(|m| !m.assignment().is_empty());
        close(members.remove(busy.expect("a busy one"))).await;
        support::settled(&mut members, 2).await;
        assert!(
            members.iter().all(|m| m.assignment().len() == 1),
            "{protocol:?}"
        );
        write(&client, 30..40).await;
        let mut seen = Views::new();
        while seen.len() < 10 {
            for member in &mut members {
                seen.extend(drain(member).await);
            }
        }
        assert_eq!(seen, views(30..40), "{protocol:?}");
        for member in members {
            close(member).await;
        }
    }
}

/// Records and offsets are in the broker's data directory: after a restart a group goes on where it was.
#[tokio::test]
async fn offsets_survive_a_restart_of_the_broker() {
    for protocol in PROTOCOLS {
        let folder = tempfile::tempdir().expect("a folder");
        let start = async || -> Broker {
            let broker = broker().data(folder.path()).topic("page-views", 4);
            broker.start().await.expect("starts")
        };
        let first = start().await;
        let client_of_first = client(&first).await;
        write(&client_of_first, 0..50).await;
        let mut member = Service::new(&client_of_first, "billing", protocol).member();
        let before = take(&mut member, 25).await;
        member.commit().await.expect("committed");
        let done = before.len() as i64;
        assert_eq!(committed(&client_of_first, "billing").await, done);
        close(member).await;
        drop(client_of_first);
        first.stop().await.expect("stops");

        let second = start().await;
        let client = client(&second).await;
        assert_eq!(committed(&client, "billing").await, done, "{protocol:?}");
        write(&client, 50..60).await;
        let mut member = Service::new(&client, "billing", protocol).member();
        let after = take(&mut member, 60 - before.len()).await;
        assert!(
            before.is_disjoint(&after),
            "{protocol:?}: something came twice"
        );
        let all: BTreeSet<_> = &before | &after;
        assert_eq!(all, views(0..60), "{protocol:?}");
        close(member).await;
        second.stop().await.expect("stops");
    }
}
