//! Packs the data set into one compressed file, so that a program can carry it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Repeats between files are far apart: 16 MiB of window holds them all.
const WINDOW_LOG: u32 = 24;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut names = vec![
        "README.md".to_owned(),
        "keys.jsonl".to_owned(),
        "manifest.json".to_owned(),
    ];
    for folder in ["placements", "schema"] {
        for entry in fs::read_dir(root.join(folder))? {
            let name = entry?.file_name();
            names.push(format!(
                "{folder}/{}",
                name.to_str().ok_or("a file name is not UTF-8")?
            ));
        }
        println!("cargo::rerun-if-changed={folder}");
    }
    names.sort();
    let (mut all, mut index) = (Vec::new(), String::from("["));
    for name in &names {
        println!("cargo::rerun-if-changed={name}");
        let content = fs::read(root.join(name))?;
        index.push_str(&format!("({name:?}, {}),", content.len()));
        all.extend(content);
    }
    index.push(']');
    let mut encoder = zstd::Encoder::new(Vec::new(), 9)?;
    encoder.window_log(WINDOW_LOG)?;
    encoder.long_distance_matching(true)?;
    std::io::copy(&mut all.as_slice(), &mut encoder)?;
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("files.zst"), encoder.finish()?)?;
    fs::write(Path::new(&out).join("index.rs"), index)?;
    Ok(())
}
