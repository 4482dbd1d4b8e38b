"""What each client has to do, and the judge of it. Drivers only act and report; nothing is judged in them."""

import time

from . import groups, records, wire
from .driver import DriverFailed, NotOffered
from .records import EMPTY, IDEMPOTENT, PARTITIONS, PLAN

OK, NOT_OFFERED, FAILED = "ok", "not offered", "failed"
RETENTION, CHANGED_RETENTION = "86400000", "7200000"
GROWN = PARTITIONS + 3

# In the order of the table's columns.
STEPS = ("create", "none", "gzip", "snappy", "lz4", "zstd", "idempotent", "partitioner", "read back", "latest, earliest",
         "by time", "max timestamp", "describe", "read configs", "alter config", "read by Java", "read by librdkafka",
         "reads Java's", "group", "group of KIP-848", "static member", "add partitions", "delete records", "delete topic")


class Wrong(Exception):
    """Client and broker did something, but not the right thing."""


def expect(condition, sentence):
    if not condition:
        raise Wrong(sentence)


def same(what, expected, found):
    expect(expected == found, f"{what}: expected {expected}, got {found}")


class Row:
    """One client's way through the scenario."""

    def __init__(self, client, driver, bootstrap, suffix):
        self.client, self.driver, self.bootstrap = client, driver, bootstrap
        self.topic, self.keys_topic = f"interop-{client}-{suffix}", f"interop-{client}-{suffix}-keys"
        self.base = (int(time.time()) - 3600) * 1000
        self.results, self.notes, self.version, self.lacks = {}, [], "?", {}
        # What is in the topic for sure: written by this client, offsets checked.
        self.truth = []

    def step(self, name, work):
        try:
            work()
            result = (OK, "")
        except NotOffered as why:
            result = (NOT_OFFERED, str(why))
        except (Wrong, DriverFailed, wire.WireError, OSError, KeyError, TypeError, ValueError) as problem:
            result = (FAILED, f"{'' if isinstance(problem, Wrong) else type(problem).__name__ + ': '}{problem}")
        self.results[name] = result
        return result[0] == OK

    def wire(self):
        return wire.Connection(self.bootstrap)

    def need(self, feature):
        if feature in self.lacks:
            raise NotOffered(self.lacks[feature])

    def greet(self):
        hello = self.driver.ask("hello")
        self.version, self.lacks = hello["version"], hello["lacks"]

    # --- writing --------------------------------------------------------------------------------

    def write_everything(self):
        self.step("create", self.create)
        for codec in records.CODECS:
            self.step(codec, lambda: self.produce_codec(codec))
        self.step("idempotent", self.produce_idempotent)
        self.step("partitioner", self.produce_keys)
        self.step("read back", self.read_back)
        self.step("latest, earliest", self.offset_ends)
        self.step("by time", self.offsets_by_time)
        self.step("max timestamp", self.offset_of_max)
        self.step("describe", self.describe)
        self.step("read configs", self.read_configs)
        self.step("alter config", self.alter_config)

    def create(self):
        configs = {} if "create-configs" in self.lacks else {"retention.ms": RETENTION}
        topics = (self.topic, self.keys_topic)
        try:
            for topic in topics:
                self.driver.ask("create", topic=topic, partitions=PARTITIONS, configs=configs)
        except (NotOffered, DriverFailed):
            # This step keeps its result, but the others can do without.
            with self.wire() as connection:
                for topic in topics:
                    connection.create_topic(topic, PARTITIONS, may_exist=True)
                    self.wait_for_leaders(connection, topic)
            raise
        with self.wire() as connection:
            for topic in topics:
                self.wait_for_leaders(connection, topic)
                if configs:
                    same("retention.ms of the new topic", RETENTION, connection.topic_configs(topic)["retention.ms"])

    def wait_for_leaders(self, connection, topic, count=PARTITIONS):
        """A topic is created before its leaders are known everywhere; clients retry, this reader does not."""
        until = time.monotonic() + 10
        while True:
            try:
                partitions = connection.metadata([topic])[1][topic]["partitions"]
                if len(partitions) == count:
                    for partition in partitions:
                        connection.offset(topic, partition, wire.LATEST)
                    return
            except wire.WireError as problem:
                partitions = problem
            expect(time.monotonic() < until, f"{topic} has no {count} partitions with leaders: {partitions}")
            time.sleep(0.05)

    def produce_codec(self, codec):
        self.need(codec)
        for _, acks, partition in (entry for entry in PLAN if entry[0] == codec):
            if f"acks={acks}" not in self.lacks:
                self.produce_to(partition, acks, codec, False)

    def produce_idempotent(self):
        self.need("idempotent")
        self.produce_to(IDEMPOTENT, -1, "none", True)
        with self.wire() as connection:
            batches = connection.batches(self.topic, IDEMPOTENT)
        expect(all(batch["producer"] >= 0 for batch in batches), "the batches carry no producer id")
        same("the first sequence number", 0, batches[0]["sequence"])

    def produce_to(self, partition, acks, codec, idempotent):
        wanted = records.record_set(partition, self.base, self.lacks)
        placed = self.driver.ask("produce", topic=self.topic, acks=acks, compression=codec, idempotent=idempotent,
                                 records=wanted)
        same("delivery reports", len(wanted), len(placed))
        for offset, (record, report) in enumerate(zip(wanted, placed)):
            record["offset"] = offset
            if report is not None:
                same("a delivery report's partition", partition, report["partition"])
                # Without acks=all some clients are told of the batch only.
                if report["offset"] is not None:
                    same("a delivery report's offset", offset, report["offset"])
        batches = self.visible(partition, len(wanted), at_once=acks == -1)
        at = 0
        for batch in batches:
            same("a batch's first offset", at, batch["base_offset"])
            at = batch["last_offset"] + 1
            expect(not batch["log_append_time"], "the broker replaced the timestamps")
        self.check_codec(codec, batches)
        self.truth += wanted

    def visible(self, partition, count, at_once):
        """The batches of a partition. With acks=1 a record may be read only once all replicas, or the disk, have it."""
        until = time.monotonic() + (0 if at_once else 5)
        while True:
            with self.wire() as connection:
                batches = connection.batches(self.topic, partition)
            found = sum(batch["count"] for batch in batches)
            if found == count:
                return batches
            expect(time.monotonic() < until, f"partition {partition}: wrote {count} records, but {found} can be read")
            time.sleep(0.02)

    def check_codec(self, codec, batches):
        """librdkafka and others send a batch as it is if compressing does not make it smaller; not the large one."""
        used = {batch["codec"] for batch in batches}
        expect(used <= {codec, "none"}, f"batches are compressed with {sorted(used)}")
        large = sum(len(record["value"] or "") // 2 for record in records.record_set(0, 0, self.lacks))
        whole = sum(batch["bytes"] for batch in batches)
        if codec == "none":
            expect(whole > large, f"{whole} bytes in the log for {large} bytes of values")
        else:
            expect(codec in used, f"asked for {codec}, but no batch in the log is compressed")
            expect(whole < large // 4, f"{whole} bytes in the log for {large} bytes of repetitive values")

    def produce_keys(self):
        self.need("partitioner")
        wanted = records.keyed_set(self.base, self.lacks)
        self.driver.ask("produce", topic=self.keys_topic, acks=-1, compression="none", idempotent=False, records=wanted)
        with self.wire() as connection:
            ends = {partition: connection.offset(self.keys_topic, partition, wire.LATEST)[0]
                    for partition in range(PARTITIONS)}
        same("records in the log", len(wanted), sum(ends.values()))
        expect(sum(end > 0 for end in ends.values()) > 1, f"all {len(wanted)} records are in one partition")
        places = {}
        for record in self.driver.ask("read", topic=self.keys_topic, ends=ends):
            places.setdefault(record["key"], []).append(record["partition"])
        same("keys read", sorted({record["key"] for record in wanted}), sorted(places))
        for key, partitions in places.items():
            same(f"records with key {key}", 2, len(partitions))
            same(f"partitions of key {key}", 1, len(set(partitions)))

    # --- reading --------------------------------------------------------------------------------

    def read_back(self):
        self.compare(self, self.driver.ask("read", topic=self.topic, ends=self.ends(self)))

    def reads(self, writer):
        """Reads another client's topic."""
        expect(writer.truth, f"{writer.client} wrote nothing")
        self.compare(writer, self.driver.ask("read", topic=writer.topic, ends=self.ends(writer)))

    def ends(self, writer):
        """Where each partition ends that has records and that this client can decompress."""
        cannot = {partition for codec, _, partition in PLAN if writer is not self and
                  (codec in self.lacks or f"reads-foreign-{codec}" in self.lacks)}
        if "reads-null-header" in self.lacks:
            cannot.add(records.NULL_HEADER)
        ends = {partition: 0 for partition in range(PARTITIONS) if partition not in cannot}
        for record in writer.truth:
            if record["partition"] in ends:
                ends[record["partition"]] = max(ends[record["partition"]], record["offset"] + 1)
        return ends

    def compare(self, writer, found):
        ends = self.ends(writer)
        if "timestamps" in writer.lacks:
            self.adopt_timestamps(writer, found)
        expected = [records.seen_by(record, self.lacks) for record in writer.truth if record["partition"] in ends]
        if "reads-timestamps" in self.lacks:
            expected = [{**record, "timestamp": None} for record in expected]
        expect(expected, "nothing was written, so nothing can be read back")
        if "reads-header-order" in self.lacks:
            for record in found:
                record["headers"].sort(key=lambda header: header[0])
        difference = records.first_difference(expected, found)
        expect(difference is None, difference)

    def adopt_timestamps(self, writer, found):
        """A client that cannot set timestamps sets the time of sending; that is checked, and then is the truth."""
        times = {(record["partition"], record["offset"]): record["timestamp"] for record in found}
        now = time.time() * 1000
        for record in writer.truth:
            got = times.get((record["partition"], record["offset"]))
            if record["timestamp"] is None and got is not None:
                expect(now - 900_000 < got < now + 1000, f"the timestamp {got} is not the time of sending")
                record["timestamp"] = got

    # --- offsets --------------------------------------------------------------------------------

    def written(self):
        """The partition whose offsets are asked for, and its records."""
        chosen = min(record["partition"] for record in self.truth) if self.truth else None
        expect(chosen is not None, "nothing was written")
        return chosen, [record for record in self.truth if record["partition"] == chosen]

    def offset_ends(self):
        partition, there = self.written()
        for at, where, expected in (("earliest", partition, 0), ("latest", partition, len(there)),
                                    ("earliest", EMPTY, 0), ("latest", EMPTY, 0)):
            answer = self.driver.ask("offset", topic=self.topic, partition=where, at=at)
            same(f"{at} offset of partition {where}", expected, answer["offset"])

    def offsets_by_time(self):
        partition, there = self.written()
        times = [record["timestamp"] for record in there]
        expect(None not in times, "the timestamps are not known, since reading back failed")
        for target in sorted({times[0] - 5000, times[0], times[4] - 1, times[4], times[8], max(times)}):
            expected = next(at for at, timestamp in enumerate(times) if timestamp >= target)
            answer = self.driver.ask("offset", topic=self.topic, partition=partition, at=target)
            same(f"offset at {target - times[0]} ms", expected, answer["offset"])
            if answer.get("timestamp") is not None:
                same(f"timestamp at {target - times[0]} ms", times[expected], answer["timestamp"])
        answer = self.driver.ask("offset", topic=self.topic, partition=partition, at=max(times) + 1)
        # Some clients say "none" as the end of the partition.
        none = len(there) if "offset-none" in self.lacks else -1
        same("offset after the latest record", none, answer["offset"])

    def offset_of_max(self):
        partition, there = self.written()
        answer = self.driver.ask("offset", topic=self.topic, partition=partition, at="max")
        times = [record["timestamp"] for record in there]
        expect(None not in times, "the timestamps are not known, since reading back failed")
        same("offset of the largest timestamp", times.index(max(times)), answer["offset"])
        if answer.get("timestamp") is not None:
            same("the largest timestamp", max(times), answer["timestamp"])

    # --- administration -------------------------------------------------------------------------

    def describe(self):
        found = self.driver.ask("describe", topic=self.topic)["partitions"]
        same("partitions", list(range(PARTITIONS)), sorted(one["partition"] for one in found))
        with self.wire() as connection:
            known = connection.metadata([self.topic])[1][self.topic]["partitions"]
        for one in found:
            expected = known[one["partition"]]
            if one["leader"] is not None:
                same("the leader", expected["leader"], one["leader"])
            for field in ("replicas", "isr"):
                if one[field] is not None:
                    same(field, sorted(expected[field]), sorted(one[field]))

    def read_configs(self):
        found = self.driver.ask("configs", topic=self.topic)
        with self.wire() as connection:
            known = connection.topic_configs(self.topic)
        for name in ("retention.ms", "cleanup.policy", "max.message.bytes", "segment.bytes"):
            same(name, known[name], found.get(name))

    def alter_config(self):
        self.driver.ask("alter", topic=self.topic, name="retention.ms", value=CHANGED_RETENTION)
        until = time.monotonic() + 5
        with self.wire() as connection:
            while (value := connection.topic_configs(self.topic)["retention.ms"]) != CHANGED_RETENTION:
                expect(time.monotonic() < until, f"retention.ms is {value} after it was set to {CHANGED_RETENTION}")
                time.sleep(0.05)

    # --- groups -----------------------------------------------------------------------------------

    def groups(self):
        self.step("group", lambda: groups.share(self, "classic"))
        self.step("group of KIP-848", lambda: groups.share(self, "consumer"))
        self.step("static member", lambda: groups.come_back(self))

    # --- the end --------------------------------------------------------------------------------

    def finish(self):
        """What would be in the way of others who read the topic."""
        self.step("add partitions", self.add_partitions)
        self.step("delete records", self.delete_records)
        self.step("delete topic", self.delete_topic)

    def add_partitions(self):
        self.driver.ask("grow", topic=self.topic, partitions=GROWN)
        until = time.monotonic() + 10
        with self.wire() as connection:
            while (count := len(connection.metadata([self.topic])[1][self.topic]["partitions"])) != GROWN:
                expect(time.monotonic() < until, f"{count} partitions after there should be {GROWN}")
                time.sleep(0.05)
            self.wait_for_leaders(connection, self.topic, GROWN)

    def delete_records(self):
        partition, there = self.written()
        answer = self.driver.ask("delete_records", topic=self.topic, partition=partition, before=3)
        if answer:
            same("the low watermark that the client was told", 3, answer["low_watermark"])
        with self.wire() as connection:
            same("the earliest offset", 3, connection.offset(self.topic, partition, wire.EARLIEST)[0])
            same("the latest offset", len(there), connection.offset(self.topic, partition, wire.LATEST)[0])

    def delete_topic(self):
        with self.wire() as connection:
            try:
                for topic in (self.topic, self.keys_topic):
                    self.driver.ask("delete", topic=topic)
            except NotOffered:
                for topic in (self.topic, self.keys_topic):
                    connection.delete_topic(topic)
                raise
            until = time.monotonic() + 10
            while connection.metadata([self.topic])[1][self.topic]["error"] != wire.UNKNOWN_TOPIC:
                expect(time.monotonic() < until, "the topic is still there 10 seconds after it was deleted")
                time.sleep(0.05)
