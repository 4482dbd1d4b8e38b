//! `place.c` linked with the librdkafka that the rdkafka-sys crate bundles.

use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::ptr;

// Named so that the crate, and with it the bundled librdkafka, is linked at all.
use rdkafka_sys as _;

unsafe extern "C" {
    fn place_main(argc: c_int, argv: *mut *mut c_char) -> c_int;
}

fn main() {
    let mut argv: Vec<*mut c_char> = std::env::args_os()
        .map(|argument| {
            CString::new(argument.into_vec())
                .expect("arguments hold no NUL")
                .into_raw()
        })
        .collect();
    let argc = argv.len() as c_int;
    argv.push(ptr::null_mut());
    // SAFETY: argv holds argc NUL-terminated strings and a final null, as a C main expects; they are never freed.
    let code = unsafe { place_main(argc, argv.as_mut_ptr()) };
    std::process::exit(code);
}
