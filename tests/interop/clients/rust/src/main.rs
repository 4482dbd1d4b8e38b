//! Does with a Rust client what each line of the input asks for: `copart-interop-rust CLIENT BOOTSTRAP`.
//! See ../README.md.

mod krafka;
mod rdkafka;
mod rskafka;
mod wire;

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use wire::{NotOffered, Outcome, Request};

enum Client {
    Krafka(krafka::Client),
    Rdkafka(rdkafka::Client),
    Rskafka(rskafka::Client),
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, bootstrap] = arguments.as_slice() else {
        return Err("usage: copart-interop-rust CLIENT BOOTSTRAP".into());
    };
    let client = match name.as_str() {
        "krafka" => Client::Krafka(krafka::Client::connect(bootstrap).await?),
        "rdkafka" => Client::Rdkafka(rdkafka::Client::connect(bootstrap)?),
        "rskafka" => Client::Rskafka(rskafka::Client::connect(bootstrap).await?),
        other => return Err(format!("no client {other}").into()),
    };
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str::<Request>(&line?) {
            Err(problem) => json!({ "error": format!("the request: {problem}") }),
            Ok(request) => match act(&client, request).await {
                Ok(result) => json!({ "ok": result }),
                Err(failure) => match failure.downcast_ref::<NotOffered>() {
                    Some(why) => json!({ "not_offered": why.to_string() }),
                    None => json!({ "error": failure.to_string() }),
                },
            },
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

async fn act(client: &Client, request: Request) -> Outcome<Value> {
    Ok(match client {
        Client::Krafka(client) => client.act(request).await?,
        Client::Rdkafka(client) => client.act(request).await?,
        Client::Rskafka(client) => client.act(request).await?,
    })
}

/// The release of a dependency, from the lock file that it was built by.
fn release(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = format!("name = \"{package}\"\nversion = \"");
    lock.split_once(&entry)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("unknown", |(version, _)| version)
}
