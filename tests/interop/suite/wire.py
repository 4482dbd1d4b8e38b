"""A small reader of Kafka's protocol that shares nothing with copart or with any client.

The suite judges clients and brokers with it: it creates the topics of clients that cannot, and looks at what
really went over the wire (the attributes of a batch) instead of at what a client says of itself. Every version
it speaks is one without tagged fields, which Kafka 4 still serves.
"""

import socket
import struct
import time

NAMES = {
    0: "NONE", 3: "UNKNOWN_TOPIC_OR_PARTITION", 5: "LEADER_NOT_AVAILABLE", 6: "NOT_LEADER_OR_FOLLOWER",
    35: "UNSUPPORTED_VERSION", 36: "TOPIC_ALREADY_EXISTS", 42: "INVALID_REQUEST", 76: "UNSUPPORTED_COMPRESSION_TYPE",
}
UNKNOWN_TOPIC, TOPIC_ALREADY_EXISTS = 3, 36
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
EARLIEST, LATEST = -2, -1
TOPIC_RESOURCE = 2
LARGEST_ANSWER = 64 << 20


class WireError(Exception):
    """The broker's answer is an error code, or no answer at all."""


class Refused(WireError):
    """The broker answered with an error code."""

    def __init__(self, code, what):
        super().__init__(f"{what}: error {code} {NAMES.get(code, '')}".rstrip())
        self.code = code


def check(code, what):
    if code:
        raise Refused(code, what)


class Reader:
    """Takes the fields of an answer one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        (value,) = struct.unpack_from(">" + layout, self.data, self.at)
        self.at += struct.calcsize(">" + layout)
        return value

    def bytes(self, layout="i"):
        length = self.take(layout)
        if length < 0:
            return None
        if length > len(self.data) - self.at:
            raise WireError(f"a field of {length} bytes in an answer that has {len(self.data) - self.at} left")
        self.at += length
        return self.data[self.at - length:self.at]

    def string(self):
        value = self.bytes("h")
        return None if value is None else value.decode()

    def array(self, item):
        return [item() for _ in range(self.take("i"))]


def string(text):
    return struct.pack(">h", -1) if text is None else struct.pack(">h", len(text.encode())) + text.encode()


def array(items):
    return struct.pack(">i", len(items)) + b"".join(items)


class Connection:
    """One connection. Requests are sent and answered one at a time."""

    def __init__(self, address, timeout=15):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.correlation = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def call(self, api, version, body):
        self.correlation += 1
        head = struct.pack(">hhi", api, version, self.correlation) + string("interop-wire")
        self.socket.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
        (length,) = struct.unpack(">i", self.exactly(4))
        if not 4 <= length <= LARGEST_ANSWER:
            raise WireError(f"API {api}: an answer of {length} bytes")
        answer = Reader(self.exactly(length))
        if answer.take("i") != self.correlation:
            raise WireError(f"API {api}: the answer is to another request")
        return answer

    def exactly(self, length):
        parts = bytearray()
        while len(parts) < length:
            part = self.socket.recv(length - len(parts))
            if not part:
                raise WireError("the broker closed the connection")
            parts += part
        return bytes(parts)

    def api_versions(self):
        """API key -> (lowest, highest version)."""
        answer = self.call(18, 0, b"")
        check(answer.take("h"), "ApiVersions")
        return {key: (low, high) for key, low, high in
                answer.array(lambda: (answer.take("h"), answer.take("h"), answer.take("h")))}

    def metadata(self, topics=None):
        """Brokers by id, and topics by name with their partitions. Never creates a topic."""
        names = struct.pack(">i", -1) if topics is None else array([string(name) for name in topics])
        answer = self.call(3, 4, names + b"\0")
        answer.take("i")
        brokers = {}
        for _ in range(answer.take("i")):
            node, host, port = answer.take("i"), answer.string(), answer.take("i")
            answer.string()
            brokers[node] = f"{host}:{port}"
        answer.string()
        answer.take("i")
        found = {}
        for _ in range(answer.take("i")):
            error, name, _ = answer.take("h"), answer.string(), answer.take("b")
            partitions = {}
            for _ in range(answer.take("i")):
                answer.take("h")
                index, leader = answer.take("i"), answer.take("i")
                replicas = answer.array(lambda: answer.take("i"))
                isr = answer.array(lambda: answer.take("i"))
                partitions[index] = {"leader": leader, "replicas": replicas, "isr": isr}
            found[name] = {"error": error, "partitions": partitions}
        return brokers, found

    def create_topic(self, name, partitions, replication=1, configs=(), may_exist=False):
        settings = array([string(key) + string(value) for key, value in configs])
        topic = string(name) + struct.pack(">ih", partitions, replication) + array([]) + settings
        answer = self.call(19, 2, array([topic]) + struct.pack(">ib", 10000, 0))
        answer.take("i")
        for _ in range(answer.take("i")):
            answer.string()
            error, message = answer.take("h"), answer.string()
            if not (may_exist and error == TOPIC_ALREADY_EXISTS):
                check(error, f"CreateTopics {name}: {message}")

    def delete_topic(self, name):
        answer = self.call(20, 1, array([string(name)]) + struct.pack(">i", 10000))
        answer.take("i")
        for _ in range(answer.take("i")):
            check(answer.take("h") if answer.string() is not None else 0, f"DeleteTopics {name}")

    def classic_group_state(self, group):
        """What DescribeGroups says of a group; "Dead" if it is none of the classic protocol."""
        answer = self.call(15, 1, array([string(group)]))
        answer.take("i"), answer.take("i")
        check(answer.take("h"), f"DescribeGroups {group}")
        answer.string()
        return answer.string()

    def offset(self, topic, partition, at):
        """(offset, timestamp) at EARLIEST, LATEST or a time in milliseconds."""
        one = struct.pack(">iq", partition, at)
        answer = self.call(2, 1, struct.pack(">i", -1) + array([string(topic) + array([one])]))
        answer.take("i"), answer.string(), answer.take("i"), answer.take("i")
        check(answer.take("h"), f"ListOffsets {topic}-{partition}")
        timestamp = answer.take("q")
        return answer.take("q"), timestamp

    def topic_configs(self, topic):
        """Name -> value of a topic's configuration."""
        resource = struct.pack(">b", TOPIC_RESOURCE) + string(topic) + struct.pack(">i", -1)
        answer = self.call(32, 1, array([resource]) + b"\0")
        answer.take("i")
        values = {}
        for _ in range(answer.take("i")):
            error, message = answer.take("h"), answer.string()
            check(error, f"DescribeConfigs {topic}: {message}")
            answer.take("b"), answer.string()
            for _ in range(answer.take("i")):
                name, value = answer.string(), answer.string()
                answer.take("b"), answer.take("b"), answer.take("b")
                answer.array(lambda: (answer.string(), answer.string(), answer.take("b")))
                values[name] = value
        return values

    def fetch(self, topic, partition, offset, wait_ms=100, max_bytes=16 << 20):
        """(high watermark, the bytes of the batches from the one that holds `offset`). Sessionless."""
        one = struct.pack(">iiqqi", partition, -1, offset, -1, max_bytes)
        body = struct.pack(">iiiibii", -1, wait_ms, 1, max_bytes, 0, 0, -1)
        answer = self.call(1, 11, body + array([string(topic) + array([one])]) + array([]) + string(""))
        answer.take("i")
        check(answer.take("h"), "Fetch")
        answer.take("i")
        if answer.take("i") == 0:
            return None, b""
        answer.string(), answer.take("i"), answer.take("i")
        check(answer.take("h"), f"Fetch {topic}-{partition} at {offset}")
        watermark = answer.take("q")
        answer.take("q"), answer.take("q")
        aborted = answer.take("i")
        for _ in range(max(aborted, 0)):
            answer.take("q"), answer.take("q")
        answer.take("i")
        records = answer.bytes()
        if records is None:
            raise WireError(f"Fetch {topic}-{partition}: the records are null, which librdkafka cannot read")
        return watermark, records

    def produce(self, topic, partition, batch, acks=-1):
        """The offset that a batch was given; raises the broker's refusal."""
        one = struct.pack(">i", partition) + struct.pack(">i", len(batch)) + batch
        answer = self.call(0, 7, string(None) + struct.pack(">hi", acks, 10000) + array([string(topic) + array([one])]))
        answer.take("i"), answer.string(), answer.take("i"), answer.take("i")
        check(answer.take("h"), f"Produce {topic}-{partition}")
        return answer.take("q")

    def batches(self, topic, partition):
        """The heads of all batches from the earliest offset to the high watermark."""
        at, _ = self.offset(topic, partition, EARLIEST)
        end, _ = self.offset(topic, partition, LATEST)
        heads = []
        while at < end:
            _, data = self.fetch(topic, partition, at, wait_ms=1000)
            found = [head for head in batch_heads(data) if head["last_offset"] >= at]
            if not found:
                raise WireError(f"Fetch {topic}-{partition} at {at}: no batch, though the log ends at {end}")
            heads += found
            at = found[-1]["last_offset"] + 1
        return heads


def batch_heads(data):
    """What stands in the head of each whole record batch; checks magic and checksum."""
    at, heads = 0, []
    while at + 61 <= len(data):
        base, length, epoch, magic, crc, attributes, delta, first, largest, producer, producer_epoch, sequence, count = \
            struct.unpack_from(">qiibIhiqqqhii", data, at)
        end = at + 12 + length
        if end > len(data):
            break
        if magic != 2:
            raise WireError(f"a batch of magic {magic} at offset {base}")
        if crc32c(data[at + 21:end]) != crc:
            raise WireError(f"the batch at offset {base} does not match its checksum")
        heads.append({
            "base_offset": base, "last_offset": base + delta, "count": count, "bytes": length + 12,
            "codec": CODECS[attributes & 7], "log_append_time": bool(attributes & 8), "epoch": epoch,
            "first_timestamp": first, "max_timestamp": largest,
            "producer": producer, "producer_epoch": producer_epoch, "sequence": sequence,
            "body": data[at + 61:end],
        })
        at = end
    return heads


def _table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC = _table()


def crc32c(data, table=_CRC):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def batch(body, count, codec="none", magic=2, crc=None):
    """A record batch around `body`, which holds `count` records and is compressed already."""
    now = int(time.time() * 1000)
    tail = struct.pack(">hiqqqhii", CODECS.index(codec), count - 1, now, now, -1, -1, -1, count) + body
    checksum = crc32c(tail) if crc is None else crc
    return struct.pack(">qiibI", 0, len(tail) + 9, -1, magic, checksum) + tail


def varint(value):
    """A signed number in zigzag form, as records have it."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def record(value, offset_delta=0):
    """A record without key and headers."""
    fields = b"\0" + varint(0) + varint(offset_delta) + varint(-1) + varint(len(value)) + value + varint(0)
    return varint(len(fields)) + fields


def uncompressed_records(head):
    """(offset, key, value) of each record in a batch that `batch_heads` found. Only for batches without compression."""
    if head["codec"] != "none":
        raise WireError(f"the batch at offset {head['base_offset']} is compressed")
    data, at = head["body"], 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7

    def field():
        nonlocal at
        length = number()
        if length < 0:
            return None
        at += length
        return data[at - length:at]

    for _ in range(head["count"]):
        length = number()
        end = at + length
        at += 1
        number()
        offset = head["base_offset"] + number()
        key, value = field(), field()
        at = end
        yield offset, key, value
