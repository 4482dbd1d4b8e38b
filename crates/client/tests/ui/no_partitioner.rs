fn main() {
    let client = copart::Client::builder("localhost:9092").connect_lazily().unwrap();
    let _ = client.producer().build();
}
