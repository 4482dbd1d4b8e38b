//! The client: what all roles share.

use std::sync::Arc;
use std::time::Duration;

use copart_protocol::Request;
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::admin::Admin;
use crate::cluster::{Cluster, ClusterConfig, ClusterView, Pool, RequestBuilder, Topic};
use crate::consumer::ConsumerBuilder;
use crate::net::sasl::Sasl;
use crate::net::{ConnectionConfig, Dialer, Tcp, Transport, parse_list};
use crate::producer::{NoPartitioner, ProducerBuilder};
use crate::reader::ReaderBuilder;
use crate::{Backoff, Error, ErrorKind, Properties, Result};

/// A connection to a Kafka cluster, from which producers and requests are made. Cheap to clone.
///
/// ```no_run
/// # async fn run() -> copart::Result<()> {
/// use copart::{Client, Sasl, Tls};
///
/// let client = Client::builder("b1:9093,b2:9093")
///     .client_id("checkout")
///     .tls(Tls::system_roots())
///     .sasl(Sasl::scram_sha512("checkout", "secret"))
///     .connect()
///     .await?;
/// println!("cluster {:?}", client.cluster().cluster_id());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    cluster: Cluster,
}

impl Client {
    /// Starts from these addresses: `host:port`, several with commas between.
    pub fn builder(bootstrap: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(bootstrap.into())
    }

    /// Starts from the text of a properties file, with the keys of Java's clients or of librdkafka. What belongs
    /// to producers is ignored: [`Properties`] has that too.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once.
    pub fn from_properties(text: &str) -> Result<ClientBuilder> {
        Ok(Properties::parse(text)?.client())
    }

    /// What is known of the cluster now.
    pub fn cluster(&self) -> Arc<ClusterView> {
        self.cluster.view()
    }

    /// A topic with its partitions. Waits up to `timeout` for metadata.
    ///
    /// # Errors
    /// When the topic does not exist, may not be seen, or no broker tells in time.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn topic(&self, name: &str, timeout: Duration) -> Result<Arc<Topic>> {
        self.cluster
            .topic(name, Instant::now() + bounded(timeout))
            .await
    }

    /// Asks for new metadata now, and waits for it. There is seldom a need: it is refreshed by age, and whenever
    /// an answer shows that it is old. After a topic was created or given more partitions, this tells at once.
    ///
    /// # Errors
    /// When no broker answers: why each address failed.
    ///
    /// # Cancel safety
    /// Cancel-safe.
    pub async fn refresh(&self) -> Result<()> {
        self.cluster.refresh_now().await
    }

    /// Any request of Kafka's, to whichever broker it belongs to.
    ///
    /// ```no_run
    /// # async fn run(client: copart::Client) -> copart::Result<()> {
    /// use copart::protocol::messages::list_groups::ListGroupsRequest;
    /// let groups = client.request(ListGroupsRequest::default()).node(1).send().await?;
    /// # Ok(()) }
    /// ```
    pub fn request<R: Request>(&self, request: R) -> RequestBuilder<R> {
        RequestBuilder::new(self.cluster.clone(), request)
    }

    /// Administration: topics, settings, offsets, groups.
    pub fn admin(&self) -> Admin {
        Admin::new(self.cluster.clone())
    }

    /// A producer. It can be built once its partitioner is named.
    pub fn producer(&self) -> ProducerBuilder<NoPartitioner> {
        ProducerBuilder::new(self.cluster.clone())
    }

    /// A consumer of topics as a member of this group.
    pub fn consumer(&self, group: impl Into<Arc<str>>) -> ConsumerBuilder {
        ConsumerBuilder::new(self.cluster.clone(), group.into())
    }

    /// A reader of topics or partitions, without a group.
    pub fn reader(&self) -> ReaderBuilder {
        ReaderBuilder::new(self.cluster.clone())
    }
}

/// Collects what a client needs.
#[must_use = "a builder does nothing until `connect` is awaited"]
#[derive(Clone)]
pub struct ClientBuilder {
    bootstrap: String,
    client_id: String,
    transport: TransportChoice,
    sasl: Option<Sasl>,
    connect_timeout: Duration,
    request_timeout: Duration,
    max_response: usize,
    metadata_max_age: Duration,
    metadata_max_idle: Duration,
    rack: Option<String>,
    retry_backoff: Backoff,
    reconnect_backoff: Backoff,
    allow_auto_create: bool,
}

#[derive(Clone)]
enum TransportChoice {
    Given(Arc<dyn Transport>),
    #[cfg(feature = "tls")]
    Tls(crate::net::Tls),
}

impl ClientBuilder {
    fn new(bootstrap: String) -> Self {
        Self {
            bootstrap,
            client_id: "copart".to_owned(),
            transport: TransportChoice::Given(Arc::new(Tcp::new())),
            sasl: None,
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            max_response: 128 << 20,
            metadata_max_age: Duration::from_secs(300),
            metadata_max_idle: Duration::from_secs(300),
            rack: None,
            retry_backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(1)),
            reconnect_backoff: Backoff::new(Duration::from_millis(50), Duration::from_secs(1)),
            allow_auto_create: false,
        }
    }

    /// Starts from other addresses: `host:port`, several with commas between.
    pub fn bootstrap(mut self, bootstrap: impl Into<String>) -> Self {
        self.bootstrap = bootstrap.into();
        self
    }

    /// What the client calls itself in requests: quotas and logs of brokers go by it. `copart` by default.
    pub fn client_id(mut self, client_id: impl Into<String>) -> Self {
        self.client_id = client_id.into();
        self
    }

    /// Encrypts connections.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::net::Tls) -> Self {
        self.transport = TransportChoice::Tls(tls);
        self
    }

    /// Opens streams in a way of your own, instead of TCP or TLS.
    pub fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = TransportChoice::Given(Arc::new(transport));
        self
    }

    /// Authenticates each connection.
    pub fn sasl(mut self, sasl: Sasl) -> Self {
        self.sasl = Some(sasl);
        self
    }

    /// How long opening a connection may take: resolving, TCP, TLS, versions and authentication together.
    /// 10 seconds by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long an answer may take. A broker that takes longer loses the connection. 30 seconds by default.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// The largest answer in bytes that is read from a broker. 128 MiB by default. A connection on which
    /// a larger one is announced is closed before memory is set aside for it.
    pub fn max_response_size(mut self, bytes: usize) -> Self {
        self.max_response = bytes;
        self
    }

    /// How old metadata may get before it is asked for again. Five minutes by default.
    pub fn metadata_max_age(mut self, age: Duration) -> Self {
        self.metadata_max_age = age;
        self
    }

    /// How long metadata of a topic is kept that nobody uses. Five minutes by default. The topic can be used
    /// again at any time: the first record waits for metadata then, as it did at the beginning.
    pub fn metadata_max_idle(mut self, idle: Duration) -> Self {
        self.metadata_max_idle = idle;
        self
    }

    /// The rack, or the availability zone, that this client stands in (`client.rack`). It is compared with
    /// `broker.rack` of the brokers. Readers fetch from replicas in it where brokers are set up for that (KIP-392),
    /// and [`Partitioning::rack_aware`](crate::Partitioning::rack_aware) spreads records to leaders in it.
    pub fn rack(mut self, rack: impl Into<String>) -> Self {
        self.rack = Some(rack.into());
        self
    }

    /// How long to wait between tries of the same thing. 100 ms, doubling to 1 s, by default.
    pub fn retry_backoff(mut self, backoff: Backoff) -> Self {
        self.retry_backoff = backoff;
        self
    }

    /// How long to wait before a broker is dialled again. 50 ms, doubling to 1 s, by default.
    pub fn reconnect_backoff(mut self, backoff: Backoff) -> Self {
        self.reconnect_backoff = backoff;
        self
    }

    /// Lets brokers create topics that do not exist when metadata is asked for, if they are configured to.
    /// Off by default: a misspelt name would become a topic, with however many partitions.
    pub fn allow_auto_create_topics(mut self, allow: bool) -> Self {
        self.allow_auto_create = allow;
        self
    }

    /// Connects: proves that one broker can be reached, speaks Kafka, accepts our credentials and answers.
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// All violations of the configuration at once, or why each address failed, within the time to connect.
    ///
    /// # Cancel safety
    /// Cancel-safe: nothing stays behind.
    pub async fn connect(self) -> Result<Client> {
        let client = self.connect_lazily()?;
        client.cluster.refresh_now().await?;
        Ok(client)
    }

    /// The client without a proof that a broker is there. Connections are opened when they are needed. Must
    /// be called within a tokio runtime.
    ///
    /// # Errors
    /// All violations of the configuration at once.
    pub fn connect_lazily(self) -> Result<Client> {
        runtime()?;
        let mut violations = Vec::new();
        let bootstrap = parse_list(&self.bootstrap, &mut violations);
        for (name, value) in [
            ("connect timeout", self.connect_timeout),
            ("request timeout", self.request_timeout),
            ("metadata max age", self.metadata_max_age),
            ("metadata max idle", self.metadata_max_idle),
        ] {
            if value.is_zero() {
                violations.push(format!("{name}: must not be zero"));
            }
        }
        if self.max_response < 1 << 20 {
            violations.push("max response size: must be 1 MiB or more".into());
        }
        self.retry_backoff.check("retry backoff", &mut violations);
        self.reconnect_backoff
            .check("reconnect backoff", &mut violations);
        if let Some(sasl) = &self.sasl {
            sasl.check(&mut violations);
        }
        if self.client_id.len() > i16::MAX as usize {
            violations.push("client id: must be shorter than 32768 bytes".into());
        }
        let transport: Option<Arc<dyn Transport>> = match &self.transport {
            TransportChoice::Given(transport) => Some(Arc::clone(transport)),
            #[cfg(feature = "tls")]
            TransportChoice::Tls(tls) => match tls.build() {
                Ok(transport) => Some(Arc::new(transport)),
                Err(error) => {
                    violations.push(error.reason().to_owned());
                    None
                }
            },
        };
        let Some(transport) = transport.filter(|_| violations.is_empty()) else {
            return Err(config_error(&violations));
        };
        let dialer = Dialer {
            transport,
            config: ConnectionConfig {
                client_id: self.client_id.into(),
                max_response: self.max_response,
                request_timeout: bounded(self.request_timeout),
            },
            connect_timeout: bounded(self.connect_timeout),
            sasl: self.sasl,
        };
        let config = ClusterConfig {
            bootstrap,
            max_age: bounded(self.metadata_max_age),
            max_idle: bounded(self.metadata_max_idle),
            rack: self.rack.filter(|rack| !rack.is_empty()).map(Arc::from),
            backoff: self.retry_backoff,
            request_timeout: bounded(self.request_timeout),
            allow_auto_create: self.allow_auto_create,
            has_sasl: dialer.sasl.is_some(),
        };
        let pool = Pool::new(dialer, self.reconnect_backoff);
        Ok(Client {
            cluster: Cluster::start(config, pool),
        })
    }
}

/// The runtime that tasks are spawned on.
pub(crate) fn runtime() -> Result<Handle> {
    Handle::try_current().map_err(|error| {
        Error::new(
            ErrorKind::Config,
            "clients and producers are made within a tokio runtime, and this is none",
        )
        .caused_by(error)
    })
}

/// A time so long that it stands for ever, and short enough to be added to any other.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 86_400);

/// A duration that can be added to the time.
pub(crate) fn bounded(duration: Duration) -> Duration {
    duration.min(FOREVER)
}

/// One error for all violations.
pub(crate) fn config_error(violations: &[String]) -> Error {
    Error::new(ErrorKind::Config, violations.join("; "))
}
