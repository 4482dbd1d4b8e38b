"""Does `copart infer` name who wrote a live topic? Real clients write, and copart reads the topic and says what it finds."""

import json
import subprocess
import time
import uuid
import zlib
from dataclasses import dataclass, field

from . import brokers, installs, places
from .driver import Driver, DriverFailed, NotOffered
from .wire import LATEST, Connection, WireError

COUNT = 12
# No multiple of the count, so that whoever goes in turn takes a key elsewhere each time.
KEYS = 299
RECORDS = 900
# Who writes one topic each, with the setting in the driver's words, and a profile that must be among those named.
WRITERS = [
    ("java", None, "java/default"),
    ("confluent-kafka", None, "librdkafka/consistent_random"),
    ("confluent-kafka", "murmur2_random", "librdkafka/murmur2_random"),
    ("sarama", "hash", "sarama/hash"),
    ("kafkajs", "default", "kafkajs/default"),
    ("kafkajs-1", "default", "kafkajs/legacy"),
    ("kafka-go", "hash", "kafka-go/hash"),
    ("platformatic-1", None, "platformatic/default"),
    ("platformatic-2", None, "platformatic/default"),
    ("franz-go", "sticky-key", "franz-go/sticky-key"),
    ("kafka-python", None, "kafka-python/default"),
]
DRIVERS = {
    **places.DRIVERS,
    "platformatic-1": lambda: installs.node_driver("platformatic-1", newer=False),
    "platformatic-2": lambda: installs.node_driver("platformatic-2", newer=True),
}
# Writes what no client here would: records whose partition was computed beside it.
BY_HAND = "java"


@dataclass
class Topic:
    """A topic as it is to be written, and what is to be said of it."""

    name: str
    writes: list
    verdict: str
    profiles: list
    grows: int = 0
    more: object = None
    failures: list = field(default_factory=list)


def text_keys(seed):
    return [str(uuid.uuid5(uuid.NAMESPACE_URL, f"{seed}-{number}")).encode() for number in range(KEYS)]


def records(keys, partition=None):
    """Each key several times, in turn, as users come back."""
    return [{"partition": partition and partition(keys[number % len(keys)]), "key": keys[number % len(keys)].hex(),
             "value": b"v".hex(), "headers": [], "timestamp": int(time.time() * 1000)} for number in range(RECORDS)]


def crc32(key):
    return zlib.crc32(key) % COUNT


def varint(number):
    return bytes([number << 1])


def avro_string(schema_id, text):
    """Confluent's framing: a zero, the schema's id, and Avro's string."""
    return b"\0" + schema_id.to_bytes(4, "big") + varint(len(text)) + text


def topics():
    for client, setting, profile in WRITERS:
        keys = text_keys(f"{client}-{setting}")
        yield Topic(f"{client} {setting or 'as it comes'}", [(client, setting, records(keys))], "one_profile", [profile])
    keys = text_keys("ruby")
    yield Topic("ruby-kafka's CRC-32, partitions by hand", [(BY_HAND, None, records(keys, crc32))], "one_profile",
                ["ruby-kafka/crc32"])
    keys = text_keys("turns")
    # It spreads in turn, whatever the key.
    yield Topic("kafka-go as it comes", [("kafka-go", "none", records(keys))], "not_keyed", [])
    yield Topic("nobody's: partitions in turn", [(BY_HAND, None, in_turn(records(keys)))], "not_keyed", [])
    yield Topic("java, then librdkafka", [("java", None, records(keys)), ("confluent-kafka", None, records(keys))],
                "mixed", ["java/default", "librdkafka/consistent_random"], more=changed_at)
    # Both wrote while there were eight partitions, and nobody since.
    yield Topic("java, before eight partitions became twelve", [("java", None, records(keys))], "stale_count",
                ["java/default"], grows=8, more=stale)
    numbers = [number.to_bytes(8, "big") for number in range(1_000_000, 1_000_000 + KEYS)]
    yield Topic("java with int64 keys", [("java", None, records(numbers))], "one_profile", ["java/default"])
    users = [f"user-{number:04d}".encode() for number in range(KEYS)]
    framed = [[avro_string(schema_id, user) for user in users] for schema_id in (1, 2)]
    yield Topic("java with Avro keys under two schema ids", [("java", None, records(keys)) for keys in framed],
                "one_profile", ["java/default"], more=two_schema_ids)


def in_turn(written):
    for number, record in enumerate(written):
        # A prime number of steps, so that no key comes to the same partition each time.
        record["partition"] = number * 7 // 5 % COUNT
    return written


def changed_at(report, ends, failures):
    """Where the second one began, partition by partition."""
    if not report["timeline"] or not report["timeline"]["in_turn"]:
        failures.append("not seen to have written one after the other")
        return
    seen = 0
    for one in report["timeline"]["by_partition"]:
        segments = one["segments"]
        if len(segments) == 2:
            seen += 1
            begun = ends[one["partition"]]
            if not segments[0]["to"]["offset"] < begun <= segments[1]["from"]["offset"]:
                failures.append(f"partition {one['partition']} changed hands at offset {begun}, and infer says between "
                                f"{segments[0]['to']['offset']} and {segments[1]['from']['offset']}")
    if seen < COUNT - 2:
        failures.append(f"the change is dated in {seen} of {COUNT} partitions only")


def stale(report, _ends, failures):
    counts = [one["partitions"] for one in report["components"]]
    if counts != [8]:
        failures.append(f"the count that was used is 8, and infer says {counts}")


def two_schema_ids(report, _ends, failures):
    framing = report["framing"] or {}
    ids = sorted(one["id"] for one in framing.get("schema_ids", []))
    if ids != [1, 2]:
        failures.append(f"the keys have the schema ids 1 and 2, and infer says {json.dumps(framing)[:300]}")


def run(chosen, broker, work, progress):
    work.mkdir(parents=True, exist_ok=True)
    run_id = f"{int(time.time()) % 100000:05d}"
    drivers, done = {}, []

    def driver(name):
        if name not in drivers:
            drivers[name] = Driver(DRIVERS[name](), broker.bootstrap, work / f"{name}.log")
        return drivers[name]

    try:
        for number, topic in enumerate(topics()):
            if not all(client in chosen for client, _, _ in topic.writes):
                continue
            done.append(topic)
            try:
                check(topic, f"infer-{number}-{run_id}", broker, driver)
            except (installs.InstallFailed, DriverFailed, NotOffered, WireError, OSError) as problem:
                topic.failures.append(f"{type(problem).__name__}: {problem}")
            progress(f"{topic.name}: " + ("; ".join(topic.failures) or f"{topic.verdict} {' and '.join(topic.profiles)}"))
    finally:
        for one in drivers.values():
            one.close()
    return done


def check(topic, name, broker, driver):
    with Connection(broker.bootstrap) as connection:
        connection.create_topic(name, topic.grows or COUNT)
        places.settle(connection, name, topic.grows or COUNT)
    ends = {}
    for client, setting, written in topic.writes:
        with Connection(broker.bootstrap) as connection:
            ends = {p: connection.offset(name, p, LATEST)[0] for p in range(topic.grows or COUNT)}
        places.produce(driver(client), name, setting, written)
    if topic.grows:
        driver(BY_HAND).ask("grow", topic=name, partitions=COUNT)
        with Connection(broker.bootstrap) as connection:
            places.settle(connection, name, COUNT)
    report = infer(broker, name)
    if report["verdict"] != topic.verdict:
        topic.failures.append(f"the verdict is {report['verdict']}, not {topic.verdict}")
    named = [{client["id"] for client in one["clients"]} for one in report["components"]]
    if len(named) != len(topic.profiles):
        topic.failures.append(f"{len(named)} rules are named, not {len(topic.profiles)}")
    for profile in topic.profiles:
        if not any(profile in ids for ids in named):
            topic.failures.append(f"{profile} is not among {[sorted(ids)[:6] for ids in named]}")
    if topic.more:
        topic.more(report, ends, topic.failures)


def infer(broker, topic):
    command = [brokers.copart_binary(), "infer", "--bootstrap", broker.bootstrap, "--topic", topic, "--output", "json"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    if result.returncode not in (0, 1, 4):
        raise DriverFailed(f"copart infer exited with {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)
