"""The records that every client writes and reads: clients/records.json, and what a reader should get back."""

import json

from . import installs

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
# Codec by codec, one partition for acks=all and one for acks=1; then the idempotent producer's.
PLAN = [(codec, acks, 2 * at + (acks == 1)) for at, codec in enumerate(CODECS) for acks in (-1, 1)]
IDEMPOTENT = 2 * len(CODECS)
# The only one with a header that is null: a client that cannot read such a batch still reads the others.
NULL_HEADER = 1
# Nothing is ever written to the last one.
EMPTY = IDEMPOTENT + 1
PARTITIONS = EMPTY + 1
KEYS = 48


def field(description):
    """Hexadecimal, or None for a null."""
    if description is None:
        return None
    data = bytes.fromhex(description["hex"]) if "hex" in description else description["utf8"].encode()
    return (data * description.get("times", 1)).hex()


def record_set(partition, base, lacks):
    """The records of one partition, without those that need what a client lacks. Times count from `base`."""
    chosen = []
    for one in json.loads((installs.CLIENTS / "records.json").read_text(encoding="utf-8")):
        fits = one.get("only_in", partition) == partition
        if fits and not any(need in lacks for need in one.get("needs", ())):
            headers = [[name, field(value)] for name, value in one["headers"]]
            chosen.append({
                "partition": partition, "key": field(one["key"]), "value": field(one["value"]),
                "headers": sorted(headers) if "header-order" in lacks else headers,
                "timestamp": None if "timestamps" in lacks else base + one["at"],
            })
    return chosen


def keyed_set(base, lacks):
    """Every key twice, and no partition named: where they go is up to the client's partitioner."""
    return [{"partition": None, "key": f"key-{number}".encode().hex(), "value": f"{turn}/{number}".encode().hex(),
             "headers": [], "timestamp": None if "timestamps" in lacks else base + number}
            for turn in range(2) for number in range(KEYS)]


def seen_by(record, lacks):
    """How a reader reports a record, given the differences that its interface cannot show."""
    key, value, headers = record["key"], record["value"], record["headers"]
    if "reads-empty-key" in lacks and key == "":
        key = None
    if "reads-null-key" in lacks and key is None:
        key = ""
    if "reads-null-value" in lacks and value is None:
        value = ""
    if "reads-empty-value" in lacks and value == "":
        value = None
    if "reads-headers" in lacks:
        headers = []
    if "reads-duplicate-headers" in lacks:
        headers = [[name, content] for name, content in dict(map(tuple, headers)).items()]
    if "reads-empty-header" in lacks:
        headers = [[name, content or None] for name, content in headers]
    if "reads-header-order" in lacks:
        headers = sorted(headers, key=lambda header: header[0])
    return {"partition": record["partition"], "offset": record["offset"], "timestamp": record["timestamp"],
            "key": key, "value": value, "headers": headers}


def short(record):
    """For an error message."""
    def cut(text):
        return text if text is None or len(text) <= 40 else f"{text[:40]}… ({len(text) // 2} bytes)"
    return {**record, "key": cut(record["key"]), "value": cut(record["value"])}


def first_difference(expected, found):
    """None, or a sentence that says where two lists of records part."""
    order = lambda record: (record["partition"], record["offset"])
    expected, found = sorted(expected, key=order), sorted(found, key=order)
    for want, got in zip(expected, found):
        if want != got:
            fields = [name for name in want if want[name] != got.get(name)]
            where = f"{want['partition']}@{want['offset']}"
            return f"{where}: {', '.join(fields)} differ: wrote {short(want)}, read {short(got)}"
    if len(expected) != len(found):
        return f"wrote {len(expected)} records, read {len(found)}"
    return None
