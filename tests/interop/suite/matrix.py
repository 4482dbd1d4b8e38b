"""All clients through the scenario, and the table of how it went."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import installs, scenario
from .driver import Driver, DriverFailed
from .scenario import FAILED, STEPS

# Name -> (language, how to get its driver). The order is that of the table.
CLIENTS = {
    "kcat": ("C", installs.kcat_driver),
    "confluent-kafka": ("Python", lambda: installs.python_driver("confluent-kafka")),
    "java": ("Java", lambda: installs.java_driver(installs.KAFKA)),
    "java-3": ("Java", lambda: installs.java_driver(installs.KAFKA_3)),
    "franz-go": ("Go", lambda: installs.go_driver("franz-go")),
    "sarama": ("Go", lambda: installs.go_driver("sarama")),
    "kafka-go": ("Go", lambda: installs.go_driver("kafka-go")),
    "kafkajs": ("Node.js", lambda: installs.node_driver("kafkajs", newer=True)),
    "platformatic-1": ("Node.js", lambda: installs.node_driver("platformatic-1", newer=False)),
    "platformatic-2": ("Node.js", lambda: installs.node_driver("platformatic-2", newer=True)),
    "kafka-python": ("Python", lambda: installs.python_driver("kafka-python")),
    "aiokafka": ("Python", lambda: installs.python_driver("aiokafka")),
    "rskafka": ("Rust", lambda: installs.rust_driver("rskafka")),
    "rdkafka": ("Rust", lambda: installs.rust_driver("rdkafka")),
    "krafka": ("Rust", lambda: installs.rust_driver("krafka")),
}
# These two read what everyone wrote, and everyone reads what Java wrote.
JAVA, LIBRDKAFKA = "java", "confluent-kafka"


def run(chosen, broker, work, progress):
    """Every chosen client's row. Java and librdkafka take part in any case, as readers."""
    work.mkdir(parents=True, exist_ok=True)
    suffix = f"{int(time.time()) % 100000:05d}"
    rows, lost = {}, {}
    names = [name for name in CLIENTS if name in {*chosen, JAVA, LIBRDKAFKA}]
    for name in names:
        try:
            driver = Driver(CLIENTS[name][1](), broker.bootstrap, work / f"{name}.log")
            row = scenario.Row(name, driver, broker.bootstrap, suffix)
            row.greet()
            rows[name] = row
        except (installs.InstallFailed, DriverFailed, OSError) as problem:
            lost[name] = str(problem)
            progress(f"{name}: did not start: {problem}")
    try:
        for row in rows.values():
            started = time.monotonic()
            row.write_everything()
            progress(f"{row.client} {row.version}: {time.monotonic() - started:.1f} s{complaints(row)}")
        for row in rows.values():
            row.step("read by Java", lambda: reader(rows, JAVA).reads(row))
            row.step("read by librdkafka", lambda: reader(rows, LIBRDKAFKA).reads(row))
            row.step("reads Java's", lambda: row.reads(reader(rows, JAVA)))
        # Members mostly wait for each other, and each client has a topic, a group and a driver of its own.
        with ThreadPoolExecutor(max_workers=3) as several:
            for _ in several.map(lambda row: groups(row, progress), rows.values()):
                pass
        for row in rows.values():
            row.finish()
            progress(f"{row.client}: finished{complaints(row)}")
    finally:
        for row in rows.values():
            row.driver.close()
    return [report(name, rows.get(name), lost.get(name)) for name in names if name in chosen]


def groups(row, progress):
    started = time.monotonic()
    row.groups()
    progress(f"{row.client}: groups, {time.monotonic() - started:.1f} s{complaints(row)}")


def reader(rows, name):
    if name not in rows:
        raise scenario.Wrong(f"{name} did not start")
    return rows[name]


def complaints(row):
    return "".join(f"\n    {step}: {reason}" for step, (result, reason) in row.results.items() if result == FAILED)


def report(name, row, lost):
    """One client's JSON document."""
    steps = {}
    for step in STEPS:
        result, reason = row.results[step] if row else (FAILED, lost)
        steps[step] = {"result": result, **({"reason": reason} if reason else {})}
    return {"client": name, "language": CLIENTS[name][0], "version": row.version if row else None,
            "lacks": row.lacks if row else {}, "steps": steps}


def failures(reports):
    """(client, step, reason); one for a client that did not even start."""
    for one in reports:
        failed = [(step, entry["reason"]) for step, entry in one["steps"].items() if entry["result"] == FAILED]
        if one["version"] is None:
            failed = [("start", failed[0][1])]
        yield from ((one["client"], step, reason) for step, reason in failed)


def write_reports(reports, path: Path):
    path.write_text(json.dumps(reports, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
