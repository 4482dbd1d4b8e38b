"""Does copart's producer put keys where the client goes that it is told to be like? Asked of the log, not of either."""

import json
import time
from dataclasses import dataclass

from . import installs
from .driver import Driver, DriverFailed, NotOffered
from .wire import LATEST, Connection, WireError

VECTORS = installs.ROOT / "compat-vectors"
# One that is no power of two and one that is a prime: signs that are handled differently show at both.
COUNTS = (7, 12)

DRIVERS = {
    "java": lambda: installs.java_driver(installs.KAFKA),
    "confluent-kafka": lambda: installs.python_driver("confluent-kafka"),
    "kafkajs": lambda: installs.node_driver("kafkajs", newer=True),
    "kafkajs-1": lambda: installs.node_driver("kafkajs-1", newer=True),
    "sarama": lambda: installs.go_driver("sarama"),
    "franz-go": lambda: installs.go_driver("franz-go"),
    "kafka-go": lambda: installs.go_driver("kafka-go"),
    "kafka-python": lambda: installs.python_driver("kafka-python"),
}
# Client, the setting in its driver's words (none: nothing is configured), and what copart's producer is told.
PAIRS = [
    ("java", None, "java"),
    *(("confluent-kafka", name, f"librdkafka/{name}")
      for name in ("consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random")),
    ("kafkajs", "default", "kafkajs/default"),
    ("kafkajs", "legacy", "kafkajs/legacy"),
    ("kafkajs-1", "default", "kafkajs/legacy"),
    ("kafkajs-1", "java-compatible", "kafkajs/default"),
    *(("sarama", name, f"sarama/{name}")
      for name in ("hash", "reference-hash", "consistent-crc", "custom-crc32", "custom-fnv1a-unsigned")),
    *(("franz-go", name, f"franz-go/{name}")
      for name in ("sticky-key", "kafka-hasher-fnv1a", "sarama-hasher-fnv1a", "sarama-hasher-crc32",
                   "sarama-compat-hasher-fnv1a", "sarama-compat-hasher-crc32")),
    *(("kafka-go", name, f"kafka-go/{name}")
      for name in ("hash", "reference-hash", "crc32", "crc32-consistent", "murmur2", "murmur2-consistent")),
    ("kafka-python", None, "kafka-python/default"),
]
# The file of golden vectors that says which keys a client pins, where it is not the id's own.
PINS = {"java": "java/default"}
# Reads what both wrote.
READER = "java"


@dataclass
class Result:
    client: str
    version: str
    setting: str
    profile: str
    compared: int = 0
    spread: int = 0
    refused: int = 0
    failure: str = ""


def keys():
    """(id, key in hexadecimal or None) of every golden vector."""
    with open(VECTORS / "keys.jsonl", encoding="utf-8") as lines:
        return [(row["id"], row["key_hex"]) for row in map(json.loads, lines)]


def outcomes(profile):
    """Key id -> pinned, unpinned or rejected, as the real client's own code said when the vectors were made."""
    name = PINS.get(profile, profile).replace("/", "__")
    found = {}
    with open(VECTORS / "placements" / f"{name}.jsonl", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found[row["id"]] = "pinned" if row["partitions"] is not None else row["outcome"]
    return found


def run(chosen, broker, work, progress):
    """One result for each client and setting."""
    work.mkdir(parents=True, exist_ok=True)
    run_id = f"{int(time.time()) % 100000:05d}"
    drivers, results = {}, []

    def driver(name, command):
        if name not in drivers:
            drivers[name] = Driver(command(), broker.bootstrap, work / f"{name}.log")
        return drivers[name]

    try:
        ours = driver("copart", installs.copart_driver)
        reader = driver(READER, DRIVERS[READER])
        for client, setting, profile in PAIRS:
            if client not in chosen:
                continue
            result = Result(client, "", setting or "nothing configured", profile)
            results.append(result)
            try:
                theirs = driver(client, DRIVERS[client])
                result.version = theirs.ask("hello")["version"]
                for count in COUNTS:
                    topic = f"places-{len(results)}-{count}-{run_id}"
                    compare(result, broker, topic, count, (theirs, setting), (ours, profile), reader)
            except (installs.InstallFailed, DriverFailed, NotOffered, WireError, OSError) as problem:
                result.failure = result.failure or f"{type(problem).__name__}: {problem}"
            progress(f"{client} {result.version} {result.setting}: {result.compared} placements as {profile}"
                     + (f": {result.failure}" if result.failure else ""))
    finally:
        for one in drivers.values():
            one.close()
    return results


def compare(result, broker, topic, count, theirs, ours, reader):
    """Both write every key to a topic of their own; then the two logs are compared key by key."""
    kinds = outcomes(result.profile)
    # What the client refuses to send cannot be compared.
    records = [{"partition": None, "key": key, "value": name.encode().hex(), "headers": [], "timestamp": 1_700_000_000_000}
               for name, key in keys() if kinds[name] != "rejected"]
    result.refused = len(kinds) - len(records)
    logs = []
    for name, (driver, partitioner) in (("theirs", theirs), ("ours", ours)):
        with Connection(broker.bootstrap) as connection:
            connection.create_topic(f"{topic}-{name}", count)
            settle(connection, f"{topic}-{name}", count)
        produce(driver, f"{topic}-{name}", partitioner, records)
        logs.append(read(reader, broker, f"{topic}-{name}", count, records, once=name == "ours"))
    for record in records:
        name = bytes.fromhex(record["value"]).decode()
        if kinds[name] != "pinned":
            result.spread += 1
        elif logs[0][name] == logs[1][name]:
            result.compared += 1
        elif not result.failure:
            result.failure = (f"the key {record['key']} ({name}) at {count} partitions is on {logs[0][name]}, "
                              f"copart puts it on {logs[1][name]}")


def settle(connection, topic, count):
    """Waits until the broker serves every partition. Clients that are asked before write to some of them twice, or give up."""
    until = time.monotonic() + 30
    while True:
        try:
            for partition in range(count):
                connection.offset(topic, partition, LATEST)
            return
        except WireError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def produce(driver, topic, partitioner, records):
    chosen = {} if partitioner is None else {"partitioner": partitioner}
    driver.ask("produce", topic=topic, acks=-1, compression="none", idempotent=False, records=records, **chosen)


def read(reader, broker, topic, count, records, once):
    """Key id -> partition. Clients that are not idempotent may have written a record again, to the same one."""
    with Connection(broker.bootstrap) as connection:
        ends = {partition: connection.offset(topic, partition, LATEST)[0] for partition in range(count)}
    found, wanted = {}, {record["value"]: record["key"] for record in records}
    for record in reader.ask("read", topic=topic, ends=ends):
        if record["value"] not in wanted or record["key"] != wanted[record["value"]]:
            raise DriverFailed(f"{topic} has a record that nobody sent: {record}")
        found.setdefault(bytes.fromhex(record["value"]).decode(), []).append(record["partition"])
    twice = [name for name, places in found.items() if len(places if once else set(places)) != 1]
    if twice or len(found) != len(records):
        raise DriverFailed(f"{topic} has {len(found)} of {len(records)} records, more than once: {twice[:3]}")
    return {name: places[0] for name, places in found.items()}
