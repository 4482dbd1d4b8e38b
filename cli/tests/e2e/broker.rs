//! `copart broker`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::support::{Ran, copart, run};

/// A broker that is killed when a test fails.
pub(crate) struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    addresses: Vec<String>,
    pub(crate) registry: Option<String>,
}

pub(crate) fn start(args: &[&str]) -> Running {
    let mut child = copart()
        .args(["broker", "--listen", "127.0.0.1:0"])
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let addresses = line.strip_prefix("ready ").unwrap_or_else(|| {
        let mut err = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        panic!("{line:?} {err}")
    });
    let (addresses, registry) = match addresses.trim_end().split_once(" registry ") {
        Some((addresses, registry)) => (addresses, Some(registry.to_owned())),
        None => (addresses.trim_end(), None),
    };
    Running {
        addresses: addresses.split(',').map(str::to_owned).collect(),
        registry,
        child,
        out,
    }
}

impl Running {
    /// The addresses of all nodes, as clients are given them.
    pub(crate) fn bootstrap(&self) -> String {
        self.addresses.join(",")
    }

    fn connect(&self, node: usize) -> TcpStream {
        TcpStream::connect(&self.addresses[node]).unwrap()
    }

    /// Ends it with a signal; returns what it printed after the ready line, and how it ended.
    fn end(mut self, signal: &str) -> Ran {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        let mut err = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut err).unwrap();
        let status = self.child.wait().unwrap();
        Ran {
            code: status.code().unwrap_or(-1),
            out,
            err,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// The nodes in an answer to Metadata version 1.
fn nodes(mut stream: TcpStream) -> Vec<i32> {
    // All topics, correlation id 7, no client id.
    let request = [
        0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ];
    stream.write_all(&request).unwrap();
    let mut size = [0; 4];
    stream.read_exact(&mut size).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(size) as usize];
    stream.read_exact(&mut answer).unwrap();
    let int = |at: usize| i32::from_be_bytes(answer[at..at + 4].try_into().unwrap());
    assert_eq!(int(0), 7);
    let mut at = 8;
    (0..int(4))
        .map(|_| {
            let id = int(at);
            let host = usize::from(u16::from_be_bytes([answer[at + 4], answer[at + 5]]));
            // Behind the host are the port and a rack that is null.
            at += 4 + 2 + host + 4 + 2;
            id
        })
        .collect()
}

#[test]
fn says_when_it_is_ready_and_stops_on_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let broker = start(&["--nodes", "3", "--topic", "t:4:3"]);
        assert_eq!(broker.addresses.len(), 3);
        for node in 0..3 {
            assert_eq!(nodes(broker.connect(node)), [1, 2, 3]);
        }
        let ran = broker.end(signal);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        assert!(ran.err.contains("stopping"), "{}", ran.err);
    }
}

#[test]
fn a_schema_registry_is_there_if_it_is_asked_for() {
    let broker = start(&[]);
    assert_eq!(broker.registry, None);
    let broker = start(&["--registry=127.0.0.1:0", "--nodes", "2"]);
    assert_eq!(broker.addresses.len(), 2);
    let url = broker.registry.clone().unwrap();
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /schemas/types HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.ends_with(r#"["JSON","PROTOBUF","AVRO"]"#),
        "{answer}"
    );
    let taken = format!("--registry={address}");
    let ran = run(&["broker", "--listen", "127.0.0.1:0", &taken]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.err.contains("the Schema Registry: listening on"),
        "{}",
        ran.err
    );
    let ran = run(&["broker", "--listen", "127.0.0.1:0", "--registry=nowhere"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--registry nowhere"), "{}", ran.err);
    let ran = broker.end("-TERM");
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn a_data_directory_is_kept_and_is_used_by_one_broker() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_str().unwrap();
    let broker = start(&["--data", data, "--topic", "t:1"]);
    let second = run(&["broker", "--listen", "127.0.0.1:0", "--data", data]);
    assert_eq!((second.code, second.out.as_str()), (3, ""));
    assert!(
        second.err.contains("in use by another process"),
        "{}",
        second.err
    );
    assert_eq!(broker.end("-TERM").code, 0);
    assert!(directory.path().join("t-0").is_dir());
    let again = start(&["--data", data]);
    assert_eq!(again.end("-KILL").code, -1);
    assert_eq!(start(&["--data", data]).end("-TERM").code, 0);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let data = data.to_str().unwrap();
    for (args, reason) in [
        (&["--topic", "t"][..], "number of partitions is missing"),
        (&["--topic", "t:0"], "no number of partitions"),
        (&["--topic", "a/b:1"], "a/b"),
        (&["--topic", "t:1:3", "--nodes", "2"], "eplication factor"),
        (&["--nodes", "0"], "0"),
        (&["--config", "no.such.setting=1"], "no.such.setting"),
        (&["--data", data, "--in-memory"], "cannot be used with"),
        (&["--repair"], "--data"),
        (&["--listen", "nowhere"], "nowhere"),
    ] {
        let args = [&["broker", "--listen", "127.0.0.1:0"][..], args].concat();
        let args = match args.iter().filter(|arg| **arg == "--listen").count() {
            1 => args,
            _ => [&["broker"][..], &args[3..]].concat(),
        };
        let ran = run(&args);
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (2, ""),
            "{args:?}: {}",
            ran.err
        );
        assert!(ran.err.contains(reason), "{args:?}: {}", ran.err);
    }
    assert!(!Path::new(data).exists());
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = run(&["broker", "--listen", &address]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains(&address), "{}", ran.err);
}

#[test]
fn repair_looks_at_a_directory_that_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_str().unwrap();
    let missing = run(&["broker", "--repair", "--data", "no-such-directory"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
    assert_eq!(
        start(&["--data", data, "--topic", "t:1"]).end("-TERM").code,
        0
    );
    let ran = run(&["broker", "--repair", "--data", data]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("0 damaged"), "{}", ran.out);
}
