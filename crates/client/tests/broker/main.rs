//! The client against the reference broker, in this process.

mod admin;
mod admin_faults;

use copart::Client;
use copart_broker::Broker;

/// Three nodes in memory, and a client of them.
async fn cluster() -> (Broker, Client) {
    let broker = Broker::builder().nodes(3).in_memory().start().await;
    let broker = broker.expect("a broker in memory starts");
    let client = Client::builder(broker.bootstrap()).connect().await;
    (broker, client.expect("the broker is there"))
}
