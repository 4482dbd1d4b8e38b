"""What a hostile or broken client sends, one function for each. Each takes the broker's address and the topic, and returns
what became of the connection: "closed", "answered" or "open"."""

import socket
import struct
import time

from suite import wire

# How long a broker has to close or answer, after which the connection counts as open.
PATIENCE = 3


def connect(address, timeout=PATIENCE):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout)


def outcome(connection):
    try:
        return "answered" if connection.recv(1) else "closed"
    except socket.timeout:
        return "open"
    except OSError:
        return "closed"


def raw(data):
    def attack(address, _):
        with connect(address) as connection:
            connection.sendall(data)
            return outcome(connection)
    return attack


def frame(api, version, body, flexible=False):
    head = struct.pack(">hhi", api, version, 7) + wire.string("hostile") + (b"\0" if flexible else b"")
    return struct.pack(">i", len(head) + len(body)) + head + body


def produce(batch):
    """A produce request whose records are `batch`; None for null records."""
    def attack(address, topic):
        records = struct.pack(">i", -1) if batch is None else struct.pack(">i", len(batch)) + batch
        one = struct.pack(">i", 0) + records
        body = wire.string(None) + struct.pack(">hi", -1, 5000) + wire.array([wire.string(topic) + wire.array([one])])
        with connect(address, timeout=60) as connection:
            try:
                connection.sendall(frame(0, 7, body))
            except OSError:
                return "closed"
            return outcome(connection)
    return attack


def forged_replica(address, topic):
    """CVE-2018-1288: a consumer that says it is a replica must not move the high watermark."""
    one = struct.pack(">iiqqi", 0, -1, 1 << 40, -1, 1 << 20)
    body = struct.pack(">iiiibii", 1, 0, 1, 1 << 20, 0, 0, -1) + wire.array([wire.string(topic) + wire.array([one])]) + \
        wire.array([]) + wire.string("")
    with connect(address) as connection:
        connection.sendall(frame(1, 11, body))
        return outcome(connection)


def slow_sender(address, _):
    """A frame of 100 bytes that comes in a byte every tenth of a second, on a hundred connections."""
    data = frame(3, 4, wire.array([]) + b"\0" + bytes(80))
    connections = [connect(address) for _ in range(100)]
    for at in range(30):
        for connection in connections:
            try:
                connection.sendall(data[at:at + 1])
            except OSError:
                pass
        time.sleep(0.1)
    states = {outcome_at_once(connection) for connection in connections}
    for connection in connections:
        connection.close()
    return "/".join(sorted(states))


def outcome_at_once(connection):
    connection.settimeout(0.05)
    return outcome(connection)


def slow_reader(address, topic):
    """Asks for a megabyte a thousand times on each of twenty connections, and reads none of it."""
    one = struct.pack(">iiqqi", 0, -1, 0, -1, 1 << 20)
    body = struct.pack(">iiiibii", -1, 0, 0, 1 << 20, 0, 0, -1) + wire.array([wire.string(topic) + wire.array([one])]) + \
        wire.array([]) + wire.string("")
    request = frame(1, 11, body)
    connections = [connect(address) for _ in range(20)]
    for connection in connections:
        connection.settimeout(0.2)
        try:
            for _ in range(1000):
                connection.sendall(request)
        except OSError:
            pass
    time.sleep(3)
    for connection in connections:
        connection.close()
    return "open"


def idle(count):
    """So many connections that send nothing."""
    def attack(address, _):
        connections = []
        try:
            for _ in range(count):
                connections.append(connect(address))
            time.sleep(1)
            refused = sum(outcome_now(connection) == "closed" for connection in connections)
            return f"{count - refused} of {count} open"
        finally:
            for connection in connections:
                connection.close()
    return attack


def outcome_now(connection):
    connection.setblocking(False)
    try:
        return "answered" if connection.recv(1) else "closed"
    except BlockingIOError:
        return "open"
    except OSError:
        return "closed"


LARGE = 0x7FFFFFFF
GARBAGE = bytes((at * 151 + 7) & 0xFF for at in range(4000))
VARINT_MAX = b"\xff\xff\xff\xff\x0f"


def all_inputs():
    """Name -> (attack, the outcomes that are right). An ordinary client is served after each."""
    whole = wire.batch(wire.record(b"x" * 100), 1)
    return {
        "a frame of 2 GiB - 1 without a body": (raw(struct.pack(">i", LARGE)), {"closed"}),
        "a frame of -1 bytes": (raw(struct.pack(">i", -1)), {"closed"}),
        "a frame of 0 bytes": (raw(struct.pack(">i", 0)), {"closed"}),
        "a body of 4 bytes": (raw(struct.pack(">i", 4) + b"abcd"), {"closed"}),
        "GET / HTTP/1.1": (raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), {"closed"}),
        "a TLS ClientHello": (raw(b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + bytes(160)), {"closed"}),
        "an array of 2^31 - 1 topics": (raw(frame(3, 4, struct.pack(">i", LARGE))), {"closed", "answered"}),
        "an array of 2^32 - 1 topics, compact": (raw(frame(3, 12, VARINT_MAX, flexible=True)), {"closed", "answered"}),
        "2^32 - 1 tagged fields": (raw(frame(18, 3, b"\x02a\x02b" + VARINT_MAX, flexible=True)), {"closed", "answered"}),
        "a client id of 32767 bytes that are not there": (raw(struct.pack(">ihhih", 14, 3, 4, 7, 32767) + b"abcd"), {"closed"}),
        "an API that is not there": (raw(frame(999, 0, b"")), {"closed"}),
        "ApiVersions of version 99": (raw(frame(18, 99, b"", flexible=True)), {"answered"}),
        "Produce of version 2": (raw(frame(0, 2, struct.pack(">hi", -1, 0) + wire.array([]))), {"closed", "answered"}),
        "null records": (produce(None), {"closed", "answered"}),
        "garbage for records": (produce(GARBAGE), {"closed", "answered"}),
        "a batch with a wrong checksum": (produce(wire.batch(wire.record(b"x"), 1, crc=1)), {"answered"}),
        "a batch of magic 9": (produce(wire.batch(wire.record(b"x"), 1, magic=9)), {"answered"}),
        "a batch that counts 2^31 - 1 records": (produce(wire.batch(wire.record(b"x"), LARGE)), {"answered"}),
        "a record that says it has 2^31 - 1 headers": (produce(wire.batch(
            (lambda fields: wire.varint(len(fields)) + fields)(b"\0\0\0\x01\0" + wire.varint(LARGE)), 1)), {"answered"}),
        "half of a batch": (produce(whole[:len(whole) // 2]), {"closed", "answered"}),
        "a million topics in Metadata": (raw(frame(3, 4, wire.array([wire.string(f"t{n}") for n in range(1_000_000)]) + b"\0")),
                                         {"closed", "answered", "open"}),
        "a consumer that says it is replica 1": (forged_replica, {"closed", "answered"}),
        "slow senders": (slow_sender, {"open", "closed", "closed/open"}),
        "slow readers": (slow_reader, {"open"}),
    }
