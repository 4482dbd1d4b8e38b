"""What a log must hold after what producers were told: the judge of the kill -9 loop. No input or output here."""

import zlib
from collections import namedtuple

# A record as the producer named it, and as it was acknowledged or found.
Acked = namedtuple("Acked", "partition offset number")
Found = namedtuple("Found", "partition offset number")

SHOWN = 5


def value(number, padding):
    """A record's value: its number, bytes that follow from it, and their checksum."""
    body = b"%012d:" % number + (b"%d/" % (number * 2654435761 % 2**32)) * padding
    return body + b":%08x" % zlib.crc32(body)


def number_of(data):
    """The number in a value, or None if the bytes are not those that were written."""
    body, separator, checksum = data.rpartition(b":")
    if not separator or checksum != b"%08x" % zlib.crc32(body) or not body[:12].isdigit():
        return None
    return int(body[:12])


def violations(acked, found, ends):
    """Sentences that say what is wrong; none if every acknowledged record is there once, in order and undamaged.

    `ends` has for each partition the (earliest, latest) offset that the broker says.
    """
    wrong = []
    by_partition = {partition: [] for partition in ends}
    for record in found:
        by_partition[record.partition].append(record)
    for partition, records in by_partition.items():
        wrong += log_violations(partition, records, *ends[partition])

    places = {}
    for record in found:
        places.setdefault(record.number, []).append(record)
    lost = [record for record in acked if record.number not in places]
    moved = [record for record in acked if record.number in places and
             (record.partition, record.offset) != (places[record.number][0].partition, places[record.number][0].offset)]
    twice = [number for number, there in places.items() if number is not None and len(there) > 1]
    wrong += some("acknowledged and lost", lost)
    wrong += some("acknowledged at another offset than it is found at", moved)
    wrong += some("there more than once", twice)
    return wrong


def log_violations(partition, records, earliest, latest):
    wrong = []
    offsets = [record.offset for record in records]
    if offsets != list(range(earliest, latest)):
        gaps = [(before, after) for before, after in zip([earliest - 1, *offsets], [*offsets, latest]) if after != before + 1]
        wrong += some(f"partition {partition}: offsets are not dense from {earliest} to {latest}", gaps)
    wrong += some(f"partition {partition}: damaged", [record.offset for record in records if record.number is None])
    numbers = [record.number for record in records if record.number is not None]
    disorder = [(before, after) for before, after in zip(numbers, numbers[1:]) if after < before]
    return wrong + some(f"partition {partition}: out of order", disorder)


def some(what, things):
    if not things:
        return []
    more = f" and {len(things) - SHOWN} more" if len(things) > SHOWN else ""
    return [f"{what}: {', '.join(map(str, things[:SHOWN]))}{more}"]
