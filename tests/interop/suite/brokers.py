"""Starts the brokers that the suite is pointed at: Apache Kafka from Maven, copart, or one that runs already."""

import base64
import os
import random
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path

from . import installs
from .wire import Connection, WireError

ROOT = Path(__file__).resolve().parents[3]
READY_WITHIN = 60


class BrokerFailed(Exception):
    """A broker did not start, or ended by itself."""


def free_ports(count):
    """The first of ports that nobody listens on, next to each other, because copart's nodes take the next ones.

    Below those that the kernel gives to outgoing connections: one of these could hold the port while a broker restarts.
    """
    for _ in range(100):
        start = random.randrange(20000, 32000 - count)
        try:
            for port in range(start, start + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return start
        except OSError:
            continue
    raise BrokerFailed(f"found no {count} free ports in a row")


class Broker:
    """A broker at `bootstrap`; `pid` is None for one that the suite did not start."""

    name = "broker"
    # A clean stop that takes longer is an error.
    stops_within = 30

    def __init__(self, bootstrap):
        self.bootstrap, self.process, self.ready_seconds = bootstrap, None, None

    @property
    def pid(self):
        return self.process.pid if self.process else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def wait_ready(self, started):
        """Until it answers Metadata with itself as a broker. Keeps how long that took."""
        reason = ""
        while time.monotonic() - started < READY_WITHIN:
            if self.process and self.process.poll() is not None:
                raise BrokerFailed(f"{self.name} ended with {self.process.returncode} while starting{self.log_tail()}")
            try:
                with Connection(self.bootstrap, timeout=2) as connection:
                    if connection.metadata([])[0]:
                        self.ready_seconds = time.monotonic() - started
                        return
            except (OSError, WireError, ValueError) as problem:
                reason = str(problem)
            time.sleep(0.002)
        raise BrokerFailed(f"{self.name} at {self.bootstrap} did not become ready: {reason}{self.log_tail()}")

    def log_tail(self):
        log = getattr(self, "log", None)
        if log is None or not log.exists():
            return ""
        return "\n" + "\n".join(log.read_text(errors="replace").splitlines()[-20:])

    def launch(self, command, work, environment=None):
        work.mkdir(parents=True, exist_ok=True)
        self.log = work / "broker.log"
        with open(self.log, "ab") as log:
            started = time.monotonic()
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=environment or os.environ)
        try:
            self.wait_ready(started)
        except BrokerFailed:
            self.kill()
            raise

    def stop(self):
        """SIGTERM, and SIGKILL if that is ignored for a while, which is an error."""
        if not self.process or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(self.stops_within)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BrokerFailed(f"{self.name} did not stop within {self.stops_within} seconds of SIGTERM") from None

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def usage(self):
        """(CPU seconds so far, resident KiB, peak resident KiB), from /proc."""
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        memory = {}
        with open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith(("VmRSS:", "VmHWM:")):
                    memory[line[:5]] = int(line.split()[1])
        return cpu, memory["VmRSS"], memory["VmHWM"]


class Kafka(Broker):
    """Apache Kafka, one KRaft node. `start` may be called again after `kill`, on the same data."""

    stops_within = 120

    def __init__(self, work, settings=None):
        listen, control = free_ports(1), free_ports(1)
        super().__init__(f"127.0.0.1:{listen}")
        self.name, self.work = f"Apache Kafka {installs.KAFKA}", work
        self.classpath = installs.kafka_classpath()
        work.mkdir(parents=True, exist_ok=True)
        values = {
            "process.roles": "broker,controller", "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{control}", "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{listen},CONTROLLER://127.0.0.1:{control}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{listen}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": work / "data", "group.initial.rebalance.delay.ms": 0,
            "offsets.topic.replication.factor": 1, "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 4,
            **(settings or {}),
        }
        self.properties = work / "server.properties"
        self.properties.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
        (work / "log4j2.properties").write_text(
            "appender.e.type=Console\nappender.e.name=E\nappender.e.layout.type=PatternLayout\n"
            "appender.e.layout.pattern=%d %p %m%n\nrootLogger.level=WARN\nrootLogger.appenderRef.e.ref=E\n")
        self.java = ["java", "-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-Xshare:auto",
                     f"-Dlog4j2.configurationFile={work / 'log4j2.properties'}", "-cp", self.classpath]
        tool = [*self.java, "kafka.tools.StorageTool", "format", "-c", self.properties,
                "-t", cluster_id()]
        result = subprocess.run([str(word) for word in tool], capture_output=True, text=True)
        if result.returncode != 0:
            raise BrokerFailed(f"kafka-storage format failed: {result.stdout}{result.stderr}")
        self.start()

    def start(self):
        self.launch([*self.java, "kafka.Kafka", self.properties], self.work)


def cluster_id():
    """One that the command line does not take for an option."""
    return "i" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22]


class Copart(Broker):
    """`copart broker`. `start` may be called again after `kill`, on the same data."""

    def __init__(self, work, nodes=1, topics=(), options=(), in_memory=False):
        listen = free_ports(nodes)
        super().__init__(f"127.0.0.1:{listen}")
        self.name, self.work = "copart", work
        work.mkdir(parents=True, exist_ok=True)
        self.ready_line = None
        self.command = [copart_binary(), "broker", "--listen", self.bootstrap]
        self.command += ["--in-memory"] if in_memory else ["--data", work / "data"]
        if nodes > 1:
            self.command += ["--nodes", nodes]
        for topic in topics:
            self.command += ["--topic", topic]
        self.command += options
        self.start()

    def start(self):
        self.launch(self.command, self.work)


def copart_binary():
    binary = Path(os.environ.get("COPART") or ROOT / "target" / "release" / "copart")
    if not binary.exists():
        raise BrokerFailed(f"{binary} does not exist: cargo build --release -p copart-cli, or set COPART")
    return binary


def open_broker(spec, work, **options):
    """`kafka`, `copart`, or the HOST:PORT of one that runs already."""
    if spec == "kafka":
        return Kafka(work)
    if spec == "copart":
        return Copart(work, **options)
    broker = Broker(spec)
    broker.name = spec
    broker.wait_ready(time.monotonic())
    return broker
