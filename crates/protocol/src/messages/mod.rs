//! The messages: a module for each API, with its request, its response and what they hold.
//!
//! Fields have Kafka's names. A field that not all versions carry says which ones do; in the others it
//! has its default after decoding, and encoding drops any other value where Kafka does too, or is an
//! error that names the field.
//!
//! Tagged fields that the schema does not have are skipped: a message does not carry them on.
// Written by copart-protocol-codegen from the files in schema/. Change those, not this.

#![allow(missing_docs, reason = "the fields are Kafka's, which documents them")]

pub mod add_offsets_to_txn;
pub mod add_partitions_to_txn;
pub mod alter_client_quotas;
pub mod alter_configs;
pub mod alter_partition_reassignments;
pub mod alter_replica_log_dirs;
pub mod alter_user_scram_credentials;
pub mod api_versions;
pub mod broker_registration_change_record;
pub mod config_record;
pub mod consumer_group_current_member_assignment_key;
pub mod consumer_group_current_member_assignment_value;
pub mod consumer_group_describe;
pub mod consumer_group_heartbeat;
pub mod consumer_group_member_metadata_key;
pub mod consumer_group_member_metadata_value;
pub mod consumer_group_metadata_key;
pub mod consumer_group_metadata_value;
pub mod consumer_group_regular_expression_key;
pub mod consumer_group_regular_expression_value;
pub mod consumer_group_target_assignment_member_key;
pub mod consumer_group_target_assignment_member_value;
pub mod consumer_group_target_assignment_metadata_key;
pub mod consumer_group_target_assignment_metadata_value;
pub mod consumer_protocol_assignment;
pub mod consumer_protocol_subscription;
pub mod create_acls;
pub mod create_partitions;
pub mod create_topics;
pub mod delete_acls;
pub mod delete_groups;
pub mod delete_records;
pub mod delete_topics;
pub mod describe_acls;
pub mod describe_client_quotas;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_groups;
pub mod describe_log_dirs;
pub mod describe_producers;
pub mod describe_quorum;
pub mod describe_topic_partitions;
pub mod describe_transactions;
pub mod describe_user_scram_credentials;
pub mod elect_leaders;
pub mod end_txn;
pub mod feature_level_record;
pub mod fetch;
pub mod find_coordinator;
pub mod group_metadata_key;
pub mod group_metadata_value;
pub mod heartbeat;
pub mod incremental_alter_configs;
pub mod init_producer_id;
pub mod join_group;
pub mod leave_group;
pub mod list_config_resources;
pub mod list_groups;
pub mod list_offsets;
pub mod list_partition_reassignments;
pub mod list_transactions;
pub mod metadata;
pub mod offset_commit;
pub mod offset_commit_key;
pub mod offset_commit_value;
pub mod offset_delete;
pub mod offset_fetch;
pub mod offset_for_leader_epoch;
pub mod partition_change_record;
pub mod partition_record;
pub mod produce;
pub mod producer_ids_record;
pub mod register_broker_record;
pub mod remove_topic_record;
pub mod sasl_authenticate;
pub mod sasl_handshake;
pub mod sync_group;
pub mod topic_record;
pub mod txn_offset_commit;
pub mod unregister_broker;
pub mod unregister_broker_record;
pub mod update_features;
pub mod write_txn_markers;

/// What each generated file needs.
mod prelude {
    pub(super) use crate::wire::{Reader, Wire, Writer, plain};
    pub(super) use crate::{Body, ErrorCode, Result, Uuid, VersionRange};
    pub(super) use bytes::Bytes;
}

crate::api::apis! {
    /// Appends record batches to partitions.
    Produce = 0, produce::{ProduceRequest, ProduceResponse},
        3..=13, flexible 9, listed 0..=13;
    /// Reads record batches from partitions, by a consumer or a follower.
    Fetch = 1, fetch::{FetchRequest, FetchResponse},
        4..=18, flexible 12, listed 4..=18;
    /// Finds offsets by timestamp, or the earliest, latest and other special ones.
    ListOffsets = 2, list_offsets::{ListOffsetsRequest, ListOffsetsResponse},
        1..=11, flexible 6, listed 1..=11;
    /// Brokers of the cluster, and topics with their partitions, leaders and replicas.
    Metadata = 3, metadata::{MetadataRequest, MetadataResponse},
        0..=13, flexible 9, listed 0..=13;
    /// Stores how far a group has processed partitions.
    OffsetCommit = 8, offset_commit::{OffsetCommitRequest, OffsetCommitResponse},
        2..=10, flexible 8, listed 2..=10;
    /// Reads what groups have committed.
    OffsetFetch = 9, offset_fetch::{OffsetFetchRequest, OffsetFetchResponse},
        1..=10, flexible 6, listed 1..=10;
    /// Which broker coordinates a group or a transactional id.
    FindCoordinator = 10, find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse},
        0..=6, flexible 3, listed 0..=6;
    /// Enters a classic group, or its next generation.
    JoinGroup = 11, join_group::{JoinGroupRequest, JoinGroupResponse},
        0..=9, flexible 6, listed 0..=9;
    /// Keeps a classic group member alive and tells it of rebalances.
    Heartbeat = 12, heartbeat::{HeartbeatRequest, HeartbeatResponse},
        0..=4, flexible 4, listed 0..=4;
    /// Takes members out of a classic group.
    LeaveGroup = 13, leave_group::{LeaveGroupRequest, LeaveGroupResponse},
        0..=5, flexible 4, listed 0..=5;
    /// Hands the leader's assignment in and each member's out.
    SyncGroup = 14, sync_group::{SyncGroupRequest, SyncGroupResponse},
        0..=5, flexible 4, listed 0..=5;
    /// State and members of classic groups.
    DescribeGroups = 15, describe_groups::{DescribeGroupsRequest, DescribeGroupsResponse},
        0..=6, flexible 5, listed 0..=6;
    /// Groups that a broker coordinates.
    ListGroups = 16, list_groups::{ListGroupsRequest, ListGroupsResponse},
        0..=5, flexible 3, listed 0..=5;
    /// Agrees on a SASL mechanism.
    SaslHandshake = 17, sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse},
        0..=1, flexible i16::MAX, listed 0..=1;
    /// What a broker supports; the first request on a connection.
    ApiVersions = 18, api_versions::{ApiVersionsRequest, ApiVersionsResponse},
        0..=5, flexible 3, listed 0..=5;
    /// Creates topics.
    CreateTopics = 19, create_topics::{CreateTopicsRequest, CreateTopicsResponse},
        2..=7, flexible 5, listed 2..=7;
    /// Deletes topics, by name or by id.
    DeleteTopics = 20, delete_topics::{DeleteTopicsRequest, DeleteTopicsResponse},
        1..=6, flexible 4, listed 1..=6;
    /// Moves partitions' log start offsets forward.
    DeleteRecords = 21, delete_records::{DeleteRecordsRequest, DeleteRecordsResponse},
        0..=2, flexible 2, listed 0..=2;
    /// Gives a producer its id and epoch, and fences its predecessors.
    InitProducerId = 22, init_producer_id::{InitProducerIdRequest, InitProducerIdResponse},
        0..=6, flexible 2, listed 0..=5;
    /// Where leader epochs end, for detecting truncation.
    OffsetForLeaderEpoch = 23, offset_for_leader_epoch::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse},
        2..=4, flexible 4, listed 2..=4;
    /// Adds partitions to an open transaction.
    AddPartitionsToTxn = 24, add_partitions_to_txn::{AddPartitionsToTxnRequest, AddPartitionsToTxnResponse},
        0..=5, flexible 3, listed 0..=5;
    /// Adds a group's offsets to an open transaction.
    AddOffsetsToTxn = 25, add_offsets_to_txn::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse},
        0..=4, flexible 3, listed 0..=4;
    /// Commits or aborts a transaction.
    EndTxn = 26, end_txn::{EndTxnRequest, EndTxnResponse},
        0..=5, flexible 3, listed 0..=5;
    /// Writes commit or abort markers into partitions.
    WriteTxnMarkers = 27, write_txn_markers::{WriteTxnMarkersRequest, WriteTxnMarkersResponse},
        1..=2, flexible 1, listed 1..=2;
    /// Commits offsets as part of a transaction.
    TxnOffsetCommit = 28, txn_offset_commit::{TxnOffsetCommitRequest, TxnOffsetCommitResponse},
        0..=6, flexible 3, listed 0..=6;
    /// Lists access rules.
    DescribeAcls = 29, describe_acls::{DescribeAclsRequest, DescribeAclsResponse},
        1..=3, flexible 2, listed 1..=3;
    /// Adds access rules.
    CreateAcls = 30, create_acls::{CreateAclsRequest, CreateAclsResponse},
        1..=3, flexible 2, listed 1..=3;
    /// Removes access rules that match filters.
    DeleteAcls = 31, delete_acls::{DeleteAclsRequest, DeleteAclsResponse},
        1..=3, flexible 2, listed 1..=3;
    /// Settings of topics, brokers and groups.
    DescribeConfigs = 32, describe_configs::{DescribeConfigsRequest, DescribeConfigsResponse},
        1..=4, flexible 4, listed 1..=4;
    /// Replaces all of a resource's settings.
    AlterConfigs = 33, alter_configs::{AlterConfigsRequest, AlterConfigsResponse},
        0..=2, flexible 2, listed 0..=2;
    /// Moves replicas between log directories.
    AlterReplicaLogDirs = 34, alter_replica_log_dirs::{AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse},
        1..=2, flexible 2, listed 1..=2;
    /// Log directories, and the replicas in them with their sizes.
    DescribeLogDirs = 35, describe_log_dirs::{DescribeLogDirsRequest, DescribeLogDirsResponse},
        1..=5, flexible 2, listed 1..=5;
    /// One step of a SASL exchange.
    SaslAuthenticate = 36, sasl_authenticate::{SaslAuthenticateRequest, SaslAuthenticateResponse},
        0..=2, flexible 2, listed 0..=2;
    /// Raises the partition count of topics.
    CreatePartitions = 37, create_partitions::{CreatePartitionsRequest, CreatePartitionsResponse},
        0..=3, flexible 2, listed 0..=3;
    /// Deletes empty groups.
    DeleteGroups = 42, delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse},
        0..=3, flexible 2, listed 0..=3;
    /// Has partition leaders elected anew.
    ElectLeaders = 43, elect_leaders::{ElectLeadersRequest, ElectLeadersResponse},
        0..=2, flexible 2, listed 0..=2;
    /// Changes single settings.
    IncrementalAlterConfigs = 44, incremental_alter_configs::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse},
        0..=1, flexible 1, listed 0..=1;
    /// Starts or cancels moving partitions to other brokers.
    AlterPartitionReassignments = 45, alter_partition_reassignments::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse},
        0..=1, flexible 0, listed 0..=1;
    /// Partitions that are being moved.
    ListPartitionReassignments = 46, list_partition_reassignments::{ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse},
        0..=0, flexible 0, listed 0..=0;
    /// Deletes a group's committed offsets.
    OffsetDelete = 47, offset_delete::{OffsetDeleteRequest, OffsetDeleteResponse},
        0..=0, flexible i16::MAX, listed 0..=0;
    /// Lists client quotas.
    DescribeClientQuotas = 48, describe_client_quotas::{DescribeClientQuotasRequest, DescribeClientQuotasResponse},
        0..=1, flexible 1, listed 0..=1;
    /// Sets and removes client quotas.
    AlterClientQuotas = 49, alter_client_quotas::{AlterClientQuotasRequest, AlterClientQuotasResponse},
        0..=1, flexible 1, listed 0..=1;
    /// Which users have SCRAM credentials, without the secrets.
    DescribeUserScramCredentials = 50, describe_user_scram_credentials::{DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse},
        0..=0, flexible 0, listed 0..=0;
    /// Sets and removes SCRAM credentials.
    AlterUserScramCredentials = 51, alter_user_scram_credentials::{AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse},
        0..=0, flexible 0, listed 0..=0;
    /// State of the controller quorum.
    DescribeQuorum = 55, describe_quorum::{DescribeQuorumRequest, DescribeQuorumResponse},
        0..=2, flexible 0, listed 0..=2;
    /// Raises or lowers finalized feature levels.
    UpdateFeatures = 57, update_features::{UpdateFeaturesRequest, UpdateFeaturesResponse},
        0..=2, flexible 0, listed 0..=2;
    /// Brokers and controller of the cluster.
    DescribeCluster = 60, describe_cluster::{DescribeClusterRequest, DescribeClusterResponse},
        0..=2, flexible 0, listed 0..=2;
    /// Producers that are active on partitions.
    DescribeProducers = 61, describe_producers::{DescribeProducersRequest, DescribeProducersResponse},
        0..=0, flexible 0, listed 0..=0;
    /// Removes a broker from the cluster.
    UnregisterBroker = 64, unregister_broker::{UnregisterBrokerRequest, UnregisterBrokerResponse},
        0..=0, flexible 0, listed 0..=0;
    /// State of transactions.
    DescribeTransactions = 65, describe_transactions::{DescribeTransactionsRequest, DescribeTransactionsResponse},
        0..=0, flexible 0, listed 0..=0;
    /// Transactions that a broker coordinates.
    ListTransactions = 66, list_transactions::{ListTransactionsRequest, ListTransactionsResponse},
        0..=2, flexible 0, listed 0..=2;
    /// Joins, stays in and leaves a consumer group (KIP-848).
    ConsumerGroupHeartbeat = 68, consumer_group_heartbeat::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse},
        0..=1, flexible 0, listed 0..=1;
    /// State and members of consumer groups (KIP-848).
    ConsumerGroupDescribe = 69, consumer_group_describe::{ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse},
        0..=1, flexible 0, listed 0..=1;
    /// Resources that have settings.
    ListConfigResources = 74, list_config_resources::{ListConfigResourcesRequest, ListConfigResourcesResponse},
        0..=1, flexible 0, listed 0..=1;
    /// Topics with their partitions, page by page.
    DescribeTopicPartitions = 75, describe_topic_partitions::{DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse},
        0..=0, flexible 0, listed 0..=0;
}
