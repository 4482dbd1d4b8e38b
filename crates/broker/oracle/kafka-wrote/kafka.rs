//! Apache Kafka as a process, and its tools.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Fallible;

const PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct Kafka {
    classpath: String,
    properties: PathBuf,
    log: PathBuf,
    bootstrap: String,
    child: Option<Child>,
}

impl Drop for Kafka {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn free_port() -> Fallible<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn java(classpath: &str) -> Command {
    let mut command = Command::new("java");
    command.args(["-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", classpath]);
    command
}

impl Kafka {
    pub(super) fn format(classpath: &str, dir: &Path, data: &Path) -> Fallible<Self> {
        let (port, controller) = (free_port()?, free_port()?);
        let properties = dir.join("server.properties");
        let text = format!(
            "process.roles=broker,controller\n\
             node.id=1\n\
             controller.quorum.voters=1@127.0.0.1:{controller}\n\
             listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
             controller.listener.names=CONTROLLER\n\
             log.dirs={}\n\
             transaction.state.log.replication.factor=1\n\
             transaction.state.log.min.isr=1\n\
             transaction.state.log.num.partitions=1\n\
             log.retention.ms=-1\n\
             log.cleaner.backoff.ms=300\n",
            data.display()
        );
        std::fs::write(&properties, text)?;
        let output = java(classpath)
            .args(["kafka.tools.StorageTool", "format", "-t"])
            .args(["4L6g3nShT-eMCtK--X86sw", "-c"])
            .arg(&properties)
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        Ok(Self {
            classpath: classpath.to_owned(),
            properties,
            log: dir.join("kafka.out"),
            bootstrap: format!("127.0.0.1:{port}"),
            child: None,
        })
    }

    pub(super) fn start(&mut self) -> Fallible<()> {
        let log = std::fs::File::create(&self.log)?;
        let child = java(&self.classpath)
            .arg("kafka.Kafka")
            .arg(&self.properties)
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        self.child = Some(child);
        let start = Instant::now();
        while TcpStream::connect(&self.bootstrap).is_err() {
            if start.elapsed() > PATIENCE {
                return Err(std::fs::read_to_string(&self.log)?.into());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    /// Has Kafka's clients write and read. Returns what they print.
    pub(super) fn write(&self, round: i32) -> Fallible<String> {
        let output = java(&self.classpath)
            .args(["Write", &self.bootstrap, &round.to_string()])
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("Write ended with {}", output.status).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    pub(super) fn stop(&mut self) -> Fallible<()> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        let terminated = Command::new("kill").arg(child.id().to_string()).status()?;
        if !terminated.success() {
            return Err("kill failed".into());
        }
        let start = Instant::now();
        while child.try_wait()?.is_none() {
            if start.elapsed() > PATIENCE {
                child.kill()?;
                return Err("Kafka does not stop".into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    pub(super) fn kill(&mut self) -> Fallible<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }
}

pub(super) fn copy(from: &Path, to: &Path) -> Fallible<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => {
                std::fs::copy(entry.path(), target)?;
            }
        }
    }
    Ok(())
}

/// Has Kafka's `DumpLogSegments` look at all files of our topics.
pub(super) fn dump(classpath: &str, data: &Path) -> Fallible<Vec<String>> {
    let mut faults = Vec::new();
    let (mut batches, mut entries, mut aborted) = (0, 0, 0);
    for topic in super::TOPICS {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(data.join(format!("{topic}-0")))? {
            let path = entry?.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if matches!(extension, Some("log" | "index" | "timeindex" | "txnindex")) {
                names.push(path.display().to_string());
            }
        }
        names.sort();
        let output = java(classpath)
            .args(["org.apache.kafka.tools.DumpLogSegments", "--deep-iteration"])
            .args(["--files", &names.join(",")])
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        if !output.status.success() {
            faults.push(format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
        }
        for line in text.lines() {
            if line.starts_with("baseOffset: ") {
                batches += 1;
                if !line.contains("isvalid: true") {
                    faults.push(format!("{topic}: {line}"));
                }
            } else if line.starts_with("offset: ") || line.starts_with("timestamp: ") {
                entries += 1;
            } else if line.starts_with("version: ") {
                aborted += 1;
            } else if ["Dumping ", "| offset: ", "Log starting offset"]
                .iter()
                .all(|known| !line.starts_with(known))
                && !line.is_empty()
                // A segment that is too short for an entry.
                && !line.ends_with(".index is empty.")
            {
                faults.push(format!("{topic}: {line}"));
            }
        }
    }
    println!(
        "{}: {batches} batches, {entries} index entries, {aborted} aborted transactions",
        data.display()
    );
    if batches < 500 || entries < 50 || aborted < 5 {
        faults.push("DumpLogSegments saw too little".into());
    }
    Ok(faults)
}
