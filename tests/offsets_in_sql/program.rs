//! Keeps daily counts of page views and the offsets that they go up to in one SQL database, in one transaction: each
//! record is counted exactly once, whenever the program dies, and with as many of it at work as there are partitions.
//!
//! `cargo run -p copart-tests --example offsets-in-sql -- localhost:9092 page-views counts.db`

mod counter;
mod store;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bootstrap, topic, database] = arguments.as_slice() else {
        return Err("usage: offsets-in-sql BOOTSTRAP TOPIC DATABASE".into());
    };
    counter::run(bootstrap, topic, database.as_ref()).await
}
