"""Installs what the suite drives, by package name from the registries, below target/interop."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = ROOT / "tests" / "interop" / "clients"
WORK = Path(os.environ.get("COPART_INTEROP_WORK") or ROOT / "target" / "interop").absolute()

# Apache Kafka, its tools and its newest Java client.
KAFKA = "4.4.0"
# The last client of the line that brokers older than 2.1 still understand.
KAFKA_3 = "3.9.2"


def workplace(suite, broker):
    """An empty directory for a run's files. They stay until the same suite is run against the same broker again."""
    folder = WORK / "run" / f"{suite}-{broker.replace(':', '-').replace('/', '-')}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


class InstallFailed(Exception):
    """A package could not be installed or built."""


def run(command, **options):
    """Runs an installer quietly; its output is the reason if it fails."""
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if result.returncode != 0:
        shown = " ".join(str(word) if len(str(word)) <= 100 else f"{str(word)[:100]}…" for word in command)
        raise InstallFailed(f"{shown} failed:\n{result.stdout[-4000:]}")
    return result.stdout


def need(command, what):
    found = shutil.which(command)
    if not found:
        raise InstallFailed(f"the command {command} is missing: install {what}")
    return found


def classpath(artifact, version):
    """The jars of an artifact and of what it needs, as java's -cp takes them."""
    need("mvn", "Maven")
    work = WORK / "java"
    work.mkdir(parents=True, exist_ok=True)
    file = work / f"classpath-{artifact}-{version}"
    if not (file.exists() and all(Path(jar).exists() for jar in file.read_text().split(":"))):
        run(["mvn", "-q", "-B", "-ntp", "-f", CLIENTS / "java" / "pom.xml", "dependency:build-classpath",
             f"-Dartifact={artifact}", f"-Dversion={version}", f"-Dmdep.outputFile={file}"])
    return file.read_text().strip()


def kafka_classpath():
    """Kafka's server."""
    return classpath("kafka_2.13", KAFKA)


def tools_classpath():
    """Kafka's command line tools."""
    return classpath("kafka-tools", KAFKA)


def java_driver(version):
    """Compiled once, against the older of the two clients, and run with the jars of each."""
    classes = WORK / "java" / "classes"
    sources = sorted((CLIENTS / "java").glob("*.java"))
    older = classpath("kafka-clients", KAFKA_3)
    if stale(classes / "Driver.class", sources):
        need("javac", "a JDK, 17 or later")
        classes.mkdir(parents=True, exist_ok=True)
        run(["javac", "--release", "17", "-d", classes, "-cp", older, *sources])
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto",
            "-cp", f"{classes}:{classpath('kafka-clients', version)}", "Driver"]


def stale(product, sources):
    return not product.exists() or any(source.stat().st_mtime > product.stat().st_mtime for source in sources)


def python_driver(client):
    """One virtual environment for all three; they share nothing that conflicts."""
    requirements = CLIENTS / "python" / "requirements.txt"
    venv = WORK / f"python-{sys.version_info[0]}.{sys.version_info[1]}"
    installed = venv / "installed.txt"
    if not (installed.exists() and installed.read_text() == requirements.read_text()):
        shutil.rmtree(venv, ignore_errors=True)
        run([sys.executable, "-m", "venv", venv])
        run([venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements])
        installed.write_text(requirements.read_text())
    return [venv / "bin" / "python", "-B", CLIENTS / "python" / "driver.py", client]


def npm(folder, target):
    lock = folder / "package-lock.json"
    mark = target / "installed.json"
    if not (mark.exists() and mark.read_bytes() == lock.read_bytes()):
        need("npm", "Node.js 20 with npm")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(folder / name, target)
        run(["npm", "ci", "--loglevel=error"], cwd=target)
        shutil.copy(lock, mark)
    return target


def newer_node():
    """A Node 24: @platformatic/kafka 2 asks for it, and its own zlib has zstd. From npm unless it is installed."""
    major = int(run([need("node", "Node.js 20 or later"), "-p", "process.versions.node.split('.')[0]"]))
    if major >= 24:
        return need("node", "Node.js")
    target = npm(CLIENTS / "node" / "node24", WORK / "node24")
    found = sorted(target.glob("node_modules/*/bin/node"))
    if not found:
        raise InstallFailed("no npm package has a Node 24 for this kind of machine: install Node 24.6 or later")
    return found[0]


def node_driver(client, newer):
    modules = npm(CLIENTS / "node", WORK / "node")
    node = newer_node() if newer else need("node", "Node.js 20 or later")
    return [node, CLIENTS / "node" / "driver.mjs", client, modules]


def go_program(folder, name):
    need("go", "Go 1.26 or later")
    program = WORK / "go" / name
    run(["go", "build", "-mod=readonly", "-o", program, "."], cwd=folder, env={**os.environ, "GOWORK": "off"})
    return program


def go_driver(client):
    return [go_program(CLIENTS / "go", "driver"), client]


def rust_driver(client):
    need("cargo", "Rust 1.95 or later")
    target = WORK / "rust"
    run(["cargo", "build", "--quiet", "--locked", "--manifest-path", CLIENTS / "rust" / "Cargo.toml"],
        env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    return [target / "debug" / "copart-interop-rust", client]


def copart_program(example):
    """A program of this repository."""
    need("cargo", "Rust 1.95 or later")
    # Of the workspace, so that what its tests have compiled is not compiled again with other features.
    run(["cargo", "build", "--quiet", "--locked", "--workspace", "--example", example], cwd=ROOT)
    metadata = json.loads(run(["cargo", "metadata", "--format-version", "1", "--no-deps", "--quiet"], cwd=ROOT))
    return Path(metadata["target_directory"]) / "debug" / "examples" / example


def copart_driver():
    """copart's own producer."""
    return [copart_program("client-driver")]


def kcat_driver():
    need("kcat", "Debian's package kcat")
    return [sys.executable, "-B", CLIENTS / "kcat" / "driver.py"]
