"""One group whose members are different clients: everything is read, and no two have the same partition."""

import time
from concurrent.futures import ThreadPoolExecutor

from . import installs, places
from .driver import Driver, DriverFailed
from .wire import Connection

PARTITIONS, EACH = 6, 20
# How long members may take to agree on something; a killed one is missed after 10 seconds.
PATIENCE = 60

DRIVERS = {
    "java": lambda: installs.java_driver(installs.KAFKA),
    "confluent-kafka": lambda: installs.python_driver("confluent-kafka"),
    "copart": installs.copart_driver,
    "sarama": lambda: installs.go_driver("sarama"),
}
# By protocol. Those of a classic group all offer the assignor that is named range.
MEMBERS = {"classic": ["java", "confluent-kafka", "sarama", "copart"], "consumer": ["java", "confluent-kafka", "copart"]}


class Group:
    """A topic, a group on it, and what its members have and have read since they were asked to forget."""

    def __init__(self, protocol, broker, writer, work, progress):
        self.protocol, self.broker, self.writer, self.work, self.progress = protocol, broker, writer, work, progress
        self.topic = f"mixed-{protocol}-{int(time.time()) % 100000:05d}"
        self.drivers, self.assigned, self.seen = {}, {}, {}
        self.written = 0
        with Connection(broker.bootstrap) as connection:
            connection.create_topic(self.topic, PARTITIONS)
            places.settle(connection, self.topic, PARTITIONS)

    def enter(self, name):
        if name not in self.drivers:
            log = self.work / f"{self.protocol}-{name}.log"
            self.drivers[name] = Driver(DRIVERS[name](), self.broker.bootstrap, log)
        self.drivers[name].ask("enter", member=name, group=f"{self.topic}-group", topic=self.topic,
                               protocol=self.protocol, instance=None)
        self.assigned[name], self.seen[name] = [], []
        self.until(f"{', '.join(self.assigned)} share", self.is_shared)

    def kill(self, name):
        """No goodbye."""
        driver = self.drivers.pop(name)
        driver.process.kill()
        driver.close()
        del self.assigned[name], self.seen[name]
        self.until(f"without {name}, which was killed, {', '.join(self.assigned)} share", self.is_shared)

    def exit(self, name):
        self.drivers[name].ask("exit", member=name)
        del self.assigned[name], self.seen[name]
        if self.assigned:
            self.until(f"without {name}, which left, {', '.join(self.assigned)} share", self.is_shared)

    def is_shared(self):
        """Does everybody have something, and all together each partition once?"""
        flat = sorted(partition for one in self.assigned.values() for partition in one)
        return all(self.assigned.values()) and flat == list(range(PARTITIONS))

    def poll(self, name):
        answer = self.drivers[name].ask("poll", member=name, seconds=1)
        self.seen[name] += [tuple(one) for one in answer["records"]]
        self.assigned[name] = answer["assigned"] or []

    def until(self, what, condition):
        started = time.monotonic()
        with ThreadPoolExecutor() as several:
            while True:
                list(several.map(self.poll, list(self.assigned)))
                if condition():
                    self.progress(f"{self.protocol}: {what}: {time.monotonic() - started:.1f} s")
                    return
                if time.monotonic() - started > PATIENCE:
                    counts = {name: len(seen) for name, seen in self.seen.items()}
                    raise DriverFailed(f"not within {PATIENCE} s: {what}; assigned {self.assigned}, records {counts}")

    def work_through(self):
        """New records in each partition; each is read once; all is committed."""
        begin = self.written
        for seen in self.seen.values():
            seen.clear()
        records = [{"partition": partition, "key": None, "value": b"x".hex(), "headers": [], "timestamp": None}
                   for partition in range(PARTITIONS) for _ in range(EACH)]
        self.writer.ask("produce", topic=self.topic, acks=-1, compression="none", idempotent=False, records=records,
                        partitioner="java")
        self.written += EACH
        new = sorted((partition, offset) for partition in range(PARTITIONS) for offset in range(begin, self.written))
        everything = lambda: sorted(record for seen in self.seen.values() for record in seen)
        self.until(f"{len(new)} records are read", lambda: len(everything()) >= len(new))
        if everything() != new:
            raise DriverFailed(f"{self.topic}: expected {new}, the members read {self.seen}")
        for name in self.assigned:
            self.drivers[name].ask("commit", member=name)

    def close(self):
        for driver in self.drivers.values():
            driver.close()


def run(protocol, broker, writer, work, progress):
    """How many records were written and read; raises what was not as it should be."""
    members = MEMBERS[protocol]
    group = Group(protocol, broker, writer, work, progress)
    try:
        for name in members:
            group.enter(name)
            group.work_through()
        # A group of KIP-848 misses members after the broker's 45 seconds, which is tested elsewhere.
        if protocol == "classic":
            group.kill(members[0])
        else:
            group.exit(members[0])
        group.work_through()
        # It is back, where the others were.
        group.enter(members[0])
        group.work_through()
        for name in members[1:]:
            group.exit(name)
        group.work_through()
        group.exit(members[0])
    finally:
        group.close()
    return group.written * PARTITIONS
