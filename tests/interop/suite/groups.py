"""Groups: what a client's members do with one topic, and whether nothing is lost and nobody has what another one has."""

import time

from . import wire
from .driver import DriverFailed

PARTITIONS, EACH = 4, 10
# How long members may take to agree on something.
PATIENCE = 40


class Group:
    """A topic of a row's own, a group on it, and what its members have read."""

    def __init__(self, row, name, protocol):
        self.row, self.protocol = row, protocol
        self.topic = f"{row.topic}-{name}"
        self.group = f"{self.topic}-group"
        self.written = [0] * PARTITIONS
        self.seen, self.assigned = {}, {}
        with row.wire() as connection:
            connection.create_topic(self.topic, PARTITIONS, may_exist=True)
            row.wait_for_leaders(connection, self.topic, PARTITIONS)

    def write(self):
        """As many records more in each partition."""
        for partition in range(PARTITIONS):
            records = [{"partition": partition, "key": None, "value": b"x".hex(), "headers": [],
                        "timestamp": None if "timestamps" in self.row.lacks else self.row.base} for _ in range(EACH)]
            self.row.driver.ask("produce", topic=self.topic, acks=-1, compression="none", idempotent=False, records=records)
            self.written[partition] += EACH

    def enter(self, member, instance=None):
        self.row.driver.ask("enter", member=member, group=self.group, topic=self.topic, protocol=self.protocol, instance=instance)
        self.seen[member], self.assigned[member] = [], None

    def poll(self, *members):
        for member in members:
            answer = self.row.driver.ask("poll", member=member, seconds=1)
            self.seen[member] += [tuple(one) for one in answer["records"]]
            self.assigned[member] = answer["assigned"]

    def until(self, what, members, condition):
        until = time.monotonic() + PATIENCE
        while True:
            self.poll(*members)
            if condition():
                return
            if time.monotonic() > until:
                assigned = {member: self.assigned[member] for member in members}
                counts = {member: len(self.seen[member]) for member in members}
                raise DriverFailed(f"not within {PATIENCE} s: {what}; assigned {assigned}, records {counts}")

    def ask(self, op, member):
        self.row.driver.ask(op, member=member)

    def all_before(self, ends):
        return {(partition, offset) for partition in range(PARTITIONS) for offset in range(ends[partition])}

    def shares(self, members):
        """Does everybody have something, all together everything, and nobody what another one has?"""
        assigned = [self.assigned[member] for member in members]
        if None in assigned:
            # The client does not tell: then by what came.
            return all(self.seen[member] for member in members)
        flat = sorted(partition for one in assigned for partition in one)
        return all(assigned) and flat == list(range(PARTITIONS))


def share(row, protocol):
    """One member reads all; two share; one leaves and the other takes over; a third goes on where they were."""
    row.need("groups")
    row.need(f"group-{protocol}")
    group = Group(row, protocol, protocol)
    group.write()
    group.enter("a")
    group.until("one member reads everything", ["a"], lambda: len(group.seen["a"]) >= sum(group.written))
    same("what one member read", sorted(group.all_before(group.written)), sorted(group.seen["a"]))
    with row.wire() as connection:
        state = connection.classic_group_state(group.group)
    same("the protocol of the group", protocol, "consumer" if state == "Dead" else "classic")
    group.ask("commit", "a")
    committed = list(group.written)

    group.enter("b")
    if group.assigned["a"] is not None:
        group.until("two members share", ["a", "b"], lambda: group.shares(["a", "b"]))
    else:
        # The second one must get something before it can be seen that it has something.
        group.poll("a", "b", "a", "b", "a", "b")
    group.seen = {"a": [], "b": []}
    group.write()
    new = group.all_before(group.written) - group.all_before(committed)
    together = lambda: set(group.seen["a"]) | set(group.seen["b"])
    group.until("two members read what is new", ["a", "b"], lambda: together() >= new and group.shares(["a", "b"]))
    same("records that both read", [], sorted(set(group.seen["a"]) & set(group.seen["b"])))
    same("what they read together", sorted(new), sorted(together()))
    group.ask("commit", "a")
    group.ask("commit", "b")
    committed = list(group.written)

    group.ask("exit", "a")
    group.seen["b"] = []
    group.write()
    new = group.all_before(group.written) - group.all_before(committed)
    group.until("the one that is left reads everything", ["b"], lambda: set(group.seen["b"]) >= new)
    # Some of it maybe twice, since it came before the rebalance and was not committed.
    same("what the one that is left read", sorted(new), sorted(set(group.seen["b"])))
    group.ask("commit", "b")
    group.ask("exit", "b")

    committed = list(group.written)
    group.write()
    new = group.all_before(group.written) - group.all_before(committed)
    group.enter("c")
    group.until("a third goes on", ["c"], lambda: len(group.seen["c"]) >= len(new))
    same("what the third read", sorted(new), sorted(group.seen["c"]))
    group.ask("exit", "c")


def come_back(row):
    """A static member that is restarted has what it had, at once, and goes on."""
    row.need("groups")
    row.need("group-static")
    group = Group(row, "static", "classic")
    group.enter("a", "first")
    group.enter("b", "second")
    group.until("two static members share", ["a", "b"], lambda: group.shares(["a", "b"]))
    group.write()
    group.until("they read everything", ["a", "b"], lambda: len(group.seen["a"]) + len(group.seen["b"]) >= sum(group.written))
    had = group.assigned["a"]
    group.ask("commit", "a")
    group.ask("commit", "b")
    group.ask("exit", "a")
    group.seen["b"] = []
    group.enter("a", "first")
    group.write()
    group.until("it is back", ["a", "b"], lambda: group.assigned["a"] == had and
                len(group.seen["a"]) + len(group.seen["b"]) >= EACH * PARTITIONS)
    same("partitions that the member has again", had, group.assigned["a"])
    same("partitions that it read", sorted(had), sorted({partition for partition, _ in group.seen["a"]}))
    same("the first offsets that it read", EACH, min(offset for _, offset in group.seen["a"]))
    group.ask("exit", "a")
    group.ask("exit", "b")


def same(what, expected, found):
    if expected != found:
        raise wire.WireError(f"{what}: expected {shown(expected)}, got {shown(found)}")


def shown(value):
    text = str(value)
    return text if len(text) < 300 else f"{text[:300]}… ({len(value)})"
