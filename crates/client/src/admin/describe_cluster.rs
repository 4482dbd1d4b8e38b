//! The brokers of the cluster.

use copart_protocol::messages::describe_cluster::DescribeClusterRequest;
use copart_protocol::messages::metadata::MetadataRequest;
use copart_protocol::{Body, VersionRange};

use super::Admin;
use super::call::{Answered, Call, Found, Time, outcome};
use crate::cluster::Route;
use crate::{Error, ErrorKind, Result};

/// The cluster as a broker describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterDescription {
    /// Its id.
    pub cluster_id: Option<String>,
    /// The controller's node, or with KRaft any node that passes requests on to it.
    pub controller: Option<i32>,
    /// Its brokers, by their ids.
    pub brokers: Vec<ClusterNode>,
}

/// A broker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterNode {
    /// Its node id.
    pub id: i32,
    /// The host that it tells clients to connect to.
    pub host: String,
    /// The port.
    pub port: i32,
    /// The rack that it stands in.
    pub rack: Option<String>,
    /// Whether it is registered, but not there (KIP-1073). Brokers before Kafka 4.0 list only those that are.
    pub is_fenced: bool,
}

impl Admin {
    /// The cluster's id, controller and brokers.
    ///
    /// # Errors
    /// When no broker answers in time.
    pub async fn describe_cluster(&self) -> Result<ClusterDescription> {
        let described = self.run(DescribeCluster, vec![CLUSTER]).await.all();
        let described = match described {
            // Before Kafka 2.8.
            Err(error) if error.kind() == ErrorKind::UnsupportedVersion => {
                self.run(FromMetadata, vec![CLUSTER]).await.all()?
            }
            described => described?,
        };
        let (_, mut cluster) = described.into_iter().next().ok_or_else(|| {
            Error::new(
                ErrorKind::Protocol,
                "the answer does not describe the cluster",
            )
        })?;
        cluster.brokers.sort_by_key(|broker| broker.id);
        Ok(cluster)
    }
}

const CLUSTER: &str = "cluster";

struct DescribeCluster;

impl Call for DescribeCluster {
    type Request = DescribeClusterRequest;
    type Key = &'static str;
    type Value = ClusterDescription;

    const REPEATABLE: bool = true;

    fn route(&self, _: &&'static str) -> Route {
        Route::Any
    }

    fn request(&self, _: &[&'static str], version: i16, _: Time) -> DescribeClusterRequest {
        DescribeClusterRequest {
            include_fenced_brokers: version >= 2,
            ..DescribeClusterRequest::default()
        }
    }

    fn answer(
        &self,
        answered: Answered<Self>,
        found: &mut Found<&'static str, ClusterDescription>,
    ) {
        let response = answered.response;
        found.throttle(response.throttle_time_ms);
        let outcome = outcome(response.error_code, response.error_message.as_deref());
        let described = outcome.map(|()| ClusterDescription {
            cluster_id: Some(response.cluster_id),
            controller: (response.controller_id >= 0).then_some(response.controller_id),
            brokers: response
                .brokers
                .into_iter()
                .map(|broker| ClusterNode {
                    id: broker.broker_id,
                    host: broker.host,
                    port: broker.port,
                    rack: broker.rack,
                    is_fenced: broker.is_fenced,
                })
                .collect(),
        });
        found.item(CLUSTER, described);
    }

    fn name(_: &&'static str, error: Error) -> Error {
        error
    }
}

struct FromMetadata;

impl Call for FromMetadata {
    type Request = MetadataRequest;
    type Key = &'static str;
    type Value = ClusterDescription;

    const REPEATABLE: bool = true;
    // From the first in which an empty list of topics is none, not all.
    const VERSIONS: VersionRange = VersionRange::new(4, <MetadataRequest as Body>::VERSIONS.max);

    fn route(&self, _: &&'static str) -> Route {
        Route::Any
    }

    fn request(&self, _: &[&'static str], _: i16, _: Time) -> MetadataRequest {
        MetadataRequest {
            topics: Some(Vec::new()),
            allow_auto_topic_creation: false,
            ..MetadataRequest::default()
        }
    }

    fn answer(
        &self,
        answered: Answered<Self>,
        found: &mut Found<&'static str, ClusterDescription>,
    ) {
        let response = answered.response;
        found.throttle(response.throttle_time_ms);
        let described = outcome(response.error_code, None).map(|()| ClusterDescription {
            cluster_id: response.cluster_id,
            controller: (response.controller_id >= 0).then_some(response.controller_id),
            brokers: response
                .brokers
                .into_iter()
                .map(|broker| ClusterNode {
                    id: broker.node_id,
                    host: broker.host,
                    port: broker.port,
                    rack: broker.rack,
                    is_fenced: false,
                })
                .collect(),
        });
        found.item(CLUSTER, described);
    }

    fn name(_: &&'static str, error: Error) -> Error {
        error
    }
}
