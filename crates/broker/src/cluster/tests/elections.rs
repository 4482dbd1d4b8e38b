//! Nodes that start and stop, and who leads then.

use super::*;

#[test]
fn a_leader_that_stops_is_followed_by_the_next_in_order() {
    let mut controller = cluster(3);
    create(&mut controller, &on("a", &[2, 3, 1]));
    let changes = controller.set_node_running(2, false).expect("stopped");
    assert_eq!(
        changes[0],
        Change::NodeChanged {
            id: 2,
            running: false
        }
    );
    assert!(matches!(
        &changes[1],
        Change::PartitionChanged {
            partition: 0,
            new_leader_epoch: true,
            ..
        }
    ));
    assert_eq!(state(&controller, "a"), (Some(3), vec![3, 1], 1, 1));
    assert_eq!(partition(&controller, "a").offline(controller.nodes()), [2]);

    // A follower that stops: the leader epoch stays (since Kafka 3.6).
    controller.set_node_running(1, false).expect("stopped");
    assert_eq!(state(&controller, "a"), (Some(3), vec![3], 1, 2));

    // The last one in sync stays in sync, and leads no more.
    controller.set_node_running(3, false).expect("stopped");
    assert_eq!(state(&controller, "a"), (None, vec![3], 2, 3));
    assert_eq!(controller.controller_id(), None);

    // One that may lack records leads nothing.
    controller.set_node_running(2, true).expect("started");
    assert_eq!(state(&controller, "a"), (None, vec![3], 2, 3));
    assert_eq!(controller.controller_id(), Some(2));

    controller.set_node_running(3, true).expect("started");
    assert_eq!(state(&controller, "a"), (Some(3), vec![3, 2], 3, 4));
    let changes = controller.set_node_running(1, true).expect("started");
    assert_eq!(state(&controller, "a"), (Some(3), vec![3, 2, 1], 3, 5));
    assert!(matches!(
        &changes[1],
        Change::PartitionChanged {
            new_leader_epoch: false,
            ..
        }
    ));
    assert!(
        controller
            .set_node_running(1, true)
            .expect("no change")
            .is_empty()
    );
    let result = controller.set_node_running(9, true);
    assert_eq!(code(result), ErrorCode::BROKER_ID_NOT_REGISTERED);
}

#[test]
fn leadership_comes_back_by_a_preferred_election_only() {
    let mut controller = cluster(3);
    create(&mut controller, &on("a", &[1, 2, 3]));
    create(&mut controller, &on("b", &[2, 1, 3]));
    controller.set_node_running(1, false).expect("stopped");
    let elect = |controller: &mut Controller, topic: &str| {
        let named = [(topic.to_owned(), 0)];
        let (mut results, _) = controller
            .elect_leaders(Election::Preferred, Some(&named))
            .expect("written");
        results.remove(0).2
    };
    let result = elect(&mut controller, "a");
    assert_eq!(code(result), ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE);
    controller.set_node_running(1, true).expect("started");
    assert_eq!(state(&controller, "a"), (Some(2), vec![2, 3, 1], 1, 2));

    let (results, changes) = controller
        .elect_leaders(Election::Preferred, None)
        .expect("written");
    assert_eq!(results, [("a".to_owned(), 0, Ok(()))], "b needs none");
    assert_eq!(changes.len(), 1);
    assert_eq!(state(&controller, "a"), (Some(1), vec![2, 3, 1], 2, 3));
    assert_eq!(
        code(elect(&mut controller, "a")),
        ErrorCode::ELECTION_NOT_NEEDED
    );
    let result = elect(&mut controller, "c");
    assert_eq!(code(result), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

#[test]
fn unclean_elections() {
    let mut controller = cluster(2);
    create(&mut controller, &on("a", &[1, 2]));
    let allowed = with_config(on("b", &[1, 2]), "unclean.leader.election.enable", "true");
    create(&mut controller, &allowed);
    controller.set_node_running(2, false).expect("stopped");
    controller.set_node_running(1, false).expect("stopped");
    assert_eq!(state(&controller, "a"), (None, vec![1], 1, 2));
    let named = [("a".to_owned(), 0)];
    let (results, _) = controller
        .elect_leaders(Election::Unclean, Some(&named))
        .expect("written");
    assert_eq!(
        code(results[0].2.clone()),
        ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE
    );

    controller.set_node_running(2, true).expect("started");
    assert_eq!(state(&controller, "a"), (None, vec![1], 1, 2));
    assert_eq!(state(&controller, "b").0, Some(2), "its setting allows it");
    assert_eq!(state(&controller, "b").1, [2], "node 1 has to follow first");
    let (results, _) = controller
        .elect_leaders(Election::Unclean, Some(&named))
        .expect("written");
    assert_eq!(results[0].2, Ok(()));
    assert_eq!(state(&controller, "a"), (Some(2), vec![2], 2, 3));
    let (results, _) = controller
        .elect_leaders(Election::Unclean, Some(&named))
        .expect("written");
    assert_eq!(code(results[0].2.clone()), ErrorCode::ELECTION_NOT_NEEDED);
}

#[test]
fn tests_may_set_isr_and_leader() {
    let mut controller = cluster(3);
    create(&mut controller, &on("a", &[1, 2, 3]));
    controller.set_isr("a", 0, &[1]).expect("set");
    assert_eq!(state(&controller, "a"), (Some(1), vec![1], 0, 1));
    let result = controller.set_leader("a", 0, 2);
    assert_eq!(code(result), ErrorCode::INELIGIBLE_REPLICA);
    controller.set_isr("a", 0, &[2, 3]).expect("set");
    assert_eq!(state(&controller, "a"), (Some(2), vec![2, 3], 1, 2));
    controller.set_leader("a", 0, 3).expect("set");
    assert_eq!(state(&controller, "a"), (Some(3), vec![2, 3], 2, 3));
    for wrong in [&[][..], &[4], &[1, 1]] {
        let result = controller.set_isr("a", 0, wrong);
        assert_eq!(code(result), ErrorCode::INELIGIBLE_REPLICA, "{wrong:?}");
    }
    let result = controller.set_isr("a", 1, &[1]);
    assert_eq!(code(result), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    // Another node's start does not bring node 1 back.
    controller.set_node_running(2, false).expect("stopped");
    controller.set_node_running(2, true).expect("started");
    assert_eq!(state(&controller, "a").1, [3, 2]);
}
