//! A member of a classic group.

use bytes::Bytes;
use copart_protocol::messages::group_metadata_value::MemberMetadata;
use copart_protocol::messages::join_group::{
    JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponseMember,
};

use crate::groups::env::{Caller, Token};

/// A join that is answered when the next generation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::groups) struct WaitingJoin {
    pub(in crate::groups) token: Token,
    /// The version of the request.
    pub(in crate::groups) version: i16,
}

/// A member.
#[derive(Clone, Debug)]
pub(in crate::groups) struct Member {
    pub(in crate::groups) id: String,
    /// `group.instance.id`, of a static member (KIP-345).
    pub(in crate::groups) instance: Option<String>,
    pub(in crate::groups) client_id: String,
    pub(in crate::groups) client_host: String,
    pub(in crate::groups) rebalance_timeout_ms: i32,
    pub(in crate::groups) session_timeout_ms: i32,
    /// What it can do, in the order of its preference, each with bytes for the leader.
    pub(in crate::groups) protocols: Vec<(String, Bytes)>,
    /// What the leader assigned.
    pub(in crate::groups) assignment: Bytes,
    pub(in crate::groups) join: Option<WaitingJoin>,
    pub(in crate::groups) sync: Option<Token>,
    /// It has not seen a generation yet. Then it can also be silent for too long while it waits: nobody learns
    /// otherwise that it gave up.
    pub(in crate::groups) new: bool,
}

impl Member {
    pub(in crate::groups) fn new(
        id: String,
        caller: Caller<'_>,
        request: &JoinGroupRequest,
    ) -> Self {
        let mut member = Self {
            id,
            instance: request.group_instance_id.clone(),
            client_id: caller.client_id.to_owned(),
            client_host: caller.host.to_owned(),
            rebalance_timeout_ms: 0,
            session_timeout_ms: 0,
            protocols: Vec::new(),
            assignment: Bytes::new(),
            join: None,
            sync: None,
            new: true,
        };
        member.update(request);
        member
    }

    /// Takes over what a join says.
    pub(super) fn update(&mut self, request: &JoinGroupRequest) {
        self.session_timeout_ms = request.session_timeout_ms;
        // Version 0 has none.
        self.rebalance_timeout_ms = match request.rebalance_timeout_ms {
            -1 => request.session_timeout_ms,
            timeout => timeout,
        };
        self.protocols = request
            .protocols
            .iter()
            .map(|protocol| (protocol.name.clone(), protocol.metadata.clone()))
            .collect();
    }

    /// Did the member say the same before?
    pub(super) fn matches(&self, protocols: &[JoinGroupRequestProtocol]) -> bool {
        let same = |((name, metadata), other): (&(String, Bytes), &JoinGroupRequestProtocol)| {
            *name == other.name && *metadata == other.metadata
        };
        self.protocols.len() == protocols.len() && self.protocols.iter().zip(protocols).all(same)
    }

    pub(in crate::groups) fn supports(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|(name, _)| name == protocol)
    }

    /// What it said with a protocol.
    pub(in crate::groups) fn metadata(&self, protocol: &str) -> Bytes {
        let found = self.protocols.iter().find(|(name, _)| name == protocol);
        found.map_or_else(Bytes::new, |(_, metadata)| metadata.clone())
    }

    /// As the leader sees it.
    pub(super) fn for_leader(&self, protocol: &str) -> JoinGroupResponseMember {
        JoinGroupResponseMember {
            member_id: self.id.clone(),
            group_instance_id: self.instance.clone(),
            metadata: self.metadata(protocol),
        }
    }

    pub(super) fn to_record(&self, protocol: &str) -> MemberMetadata {
        MemberMetadata {
            member_id: self.id.clone(),
            group_instance_id: self.instance.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            rebalance_timeout: self.rebalance_timeout_ms,
            session_timeout: self.session_timeout_ms,
            subscription: self.metadata(protocol),
            assignment: self.assignment.clone(),
        }
    }

    pub(super) fn from_record(record: MemberMetadata, protocol: &str) -> Self {
        Self {
            id: record.member_id,
            instance: record.group_instance_id,
            client_id: record.client_id,
            client_host: record.client_host,
            rebalance_timeout_ms: match record.rebalance_timeout {
                -1 => record.session_timeout,
                timeout => timeout,
            },
            session_timeout_ms: record.session_timeout,
            protocols: vec![(protocol.to_owned(), record.subscription)],
            assignment: record.assignment,
            join: None,
            sync: None,
            new: false,
        }
    }
}
