//! Writes the generated files. See the library.

fn main() {
    let dir = copart_protocol_codegen::output_dir();
    let files = copart_protocol_codegen::generate(&copart_protocol_codegen::load());
    for (name, source) in &files {
        let path = dir.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == *source) {
            continue;
        }
        std::fs::write(&path, source)
            .unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
        println!("wrote {name}");
    }
}
