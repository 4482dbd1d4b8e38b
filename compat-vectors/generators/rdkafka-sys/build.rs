//! Compiles the same `place.c` as the librdkafka generator, against the headers that rdkafka-sys bundles.

use std::{env, path::Path};

fn main() {
    let root = env::var("DEP_RDKAFKA_ROOT").expect("rdkafka-sys tells where it built librdkafka");
    let source = "../librdkafka/place.c";
    println!("cargo::rerun-if-changed={source}");
    cc::Build::new()
        .file(source)
        .include(Path::new(&root).join("src"))
        .define("main", "place_main")
        .compile("place");
}
