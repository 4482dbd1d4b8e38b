//! Moving partitions.

use super::*;

fn wish(topic: &str, replicas: Option<&[i32]>) -> Reassignment {
    Reassignment {
        topic: topic.into(),
        partition: 0,
        replicas: replicas.map(<[i32]>::to_vec),
    }
}

fn reassign(controller: &mut Controller, replicas: Option<&[i32]>) -> ApiResult<()> {
    let (mut results, _) = controller.reassign(&[wish("a", replicas)], true)?;
    results.remove(0)
}

#[test]
fn to_nodes_that_run_it_is_done_at_once() {
    let mut controller = cluster(4);
    create(&mut controller, &on("a", &[1, 2]));
    reassign(&mut controller, Some(&[3, 4])).expect("moved");
    let it = partition(&controller, "a").clone();
    assert_eq!((it.replicas, it.isr), (vec![3, 4], vec![3, 4]));
    assert_eq!((it.adding, it.removing), (vec![], vec![]));
    assert_eq!(
        (it.leader, it.leader_epoch, it.partition_epoch),
        (Some(3), 1, 1)
    );
    assert_eq!(controller.reassigning().count(), 0);
    let result = reassign(&mut controller, None);
    assert_eq!(code(result), ErrorCode::NO_REASSIGNMENT_IN_PROGRESS);
    // The leader stays, and those that go must notice.
    reassign(&mut controller, Some(&[3])).expect("moved");
    assert_eq!(state(&controller, "a"), (Some(3), vec![3], 2, 2));
    // Another order of preference, and nothing else.
    reassign(&mut controller, Some(&[3, 1])).expect("moved");
    reassign(&mut controller, Some(&[1, 3])).expect("moved");
    let it = partition(&controller, "a");
    assert_eq!(
        (&it.replicas[..], it.leader, it.leader_epoch),
        (&[1, 3][..], Some(3), 2)
    );
    reassign(&mut controller, Some(&[1, 3])).expect("nothing to do");
    assert_eq!(partition(&controller, "a").partition_epoch, 4);
}

#[test]
fn to_a_node_that_stopped_it_waits() {
    let mut controller = cluster(4);
    create(&mut controller, &on("a", &[1, 2]));
    controller.set_node_running(4, false).expect("stopped");
    reassign(&mut controller, Some(&[3, 4])).expect("begun");
    let it = partition(&controller, "a").clone();
    assert_eq!(it.replicas, [3, 4, 1, 2]);
    assert_eq!(
        (&it.adding[..], &it.removing[..]),
        (&[3, 4][..], &[1, 2][..])
    );
    assert_eq!((it.leader, &it.isr[..]), (Some(1), &[1, 2, 3][..]));
    let moving: Vec<_> = controller
        .reassigning()
        .map(|it| (&it.0.name, it.1))
        .collect();
    assert_eq!(moving, [(&"a".to_owned(), 0)]);

    // Cancelled: as before, but for the epochs.
    reassign(&mut controller, None).expect("cancelled");
    let it = partition(&controller, "a").clone();
    assert_eq!(
        (it.replicas, it.isr, it.leader),
        (vec![1, 2], vec![1, 2], Some(1))
    );

    reassign(&mut controller, Some(&[3, 4])).expect("begun");
    controller.set_node_running(4, true).expect("started");
    let it = partition(&controller, "a").clone();
    assert_eq!(
        (it.replicas, it.isr, it.leader),
        (vec![3, 4], vec![3, 4], Some(3))
    );
    assert_eq!(controller.reassigning().count(), 0);
}

#[test]
fn what_is_refused() {
    let mut controller = cluster(3);
    create(&mut controller, &on("a", &[1, 2]));
    for wrong in [&[][..], &[1, 1], &[9]] {
        let result = reassign(&mut controller, Some(wrong));
        assert_eq!(
            code(result),
            ErrorCode::INVALID_REPLICA_ASSIGNMENT,
            "{wrong:?}"
        );
    }
    let wishes = [
        wish("a", Some(&[3])),
        wish("b", Some(&[1])),
        wish("a", None),
    ];
    let (results, changes) = controller.reassign(&wishes, false).expect("written");
    let codes: Vec<_> = results.into_iter().map(code).collect();
    assert_eq!(
        codes,
        [
            ErrorCode::INVALID_REPLICATION_FACTOR,
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode::INVALID_REQUEST,
        ]
    );
    assert!(changes.is_empty());
    assert_eq!(state(&controller, "a"), (Some(1), vec![1, 2], 0, 0));
}
