"""Batches that are small and decompress to a lot, made by hand so that they are as small as their format allows.

Each holds one record whose value is zeros, so that a broker that looks for the record's end has to go through all of it;
and each format has a second kind that only says that it is large.
"""

import struct
import zlib

from suite.wire import varint

CLAIM = 1 << 30


def head_of_record(size):
    """The beginning of a record of `size` bytes: no key, and a value that takes the rest but for a byte."""
    fields = b"\0" + varint(0) + varint(0) + varint(-1)
    return varint(size) + fields + varint(size - len(fields) - 6)


def gzip_bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    out = bytearray(packer.compress(head_of_record(size)))
    zeros = bytes(1 << 20)
    for _ in range(size >> 20):
        out += packer.compress(zeros)
    return bytes(out + packer.flush())


def zstd_frame(blocks, content_size):
    """A frame that declares its size: single segment, eight bytes of it."""
    return b"\x28\xb5\x2f\xfd" + b"\xe0" + struct.pack("<Q", content_size) + blocks


def zstd_window_frame(blocks):
    """A frame with a window of 8 MiB and no declared size."""
    return b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(23 - 10) << 3]) + blocks


def zstd_block(kind, size, content, last=False):
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content


def zstd_bomb(size):
    """Run-length blocks of 128 KiB, four bytes each."""
    head = head_of_record(size)
    runs = zstd_block(1, 128 << 10, b"\0") * (size >> 17)
    return zstd_window_frame(zstd_block(0, len(head), head) + runs + zstd_block(0, 0, b"", last=True))


def zstd_claim():
    return zstd_frame(zstd_block(1, 64, b"\0", last=True), CLAIM)


def snappy_length(size):
    out = bytearray()
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(out) + bytes([size])


def snappy_bomb(size):
    """A literal, then copies of 64 bytes from one byte back, three bytes each: the best that the format has."""
    head = head_of_record(size) + b"\0"
    literal = bytes([(len(head) - 1) << 2]) + head
    copies = size // 64
    return snappy_length(len(head) + copies * 64) + literal + b"\xfe\x01\x00" * copies


def snappy_claim():
    return snappy_length(CLAIM) + b"\x04ab" + b"\xfe\x01\x00" * 300


def snappy_framed_claim():
    """Java's framing: a chunk that says it is nearly 2 GiB long (CVE-2023-43642)."""
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + struct.pack(">i", 0x7FFFFFF0) + b"\0" * 64


def lz4_frame(blocks, content_size=None):
    """Version 1, independent blocks of up to 4 MiB."""
    descriptor = bytes([0x60 | (0x08 if content_size is not None else 0), 0x70])
    if content_size is not None:
        descriptor += struct.pack("<Q", content_size)
    return b"\x04\x22\x4d\x18" + descriptor + bytes([xxh32(descriptor) >> 8 & 0xFF]) + blocks + b"\0\0\0\0"


def lz4_block(content):
    return struct.pack("<I", len(content)) + content


def lz4_zeros(head, size):
    """One block: a literal, a match that repeats its last zero, and the five literals that a block must end with."""
    match = size - len(head) - 5
    token = (min(len(head), 15) << 4) | 15
    literal = bytes([len(head) - 15]) if len(head) >= 15 else b""
    more = match - 4 - 15
    return bytes([token]) + literal + head + b"\x01\x00" + b"\xff" * (more // 255) + bytes([more % 255]) + b"\x50" + bytes(5)


def lz4_bomb(size):
    block = 4 << 20
    first = lz4_block(lz4_zeros(head_of_record(size) + b"\0", block))
    rest = lz4_block(lz4_zeros(b"\0", block))
    return lz4_frame(first + rest * (size // block - 1))


def lz4_claim():
    return lz4_frame(lz4_block(lz4_zeros(b"\0", 1000)), CLAIM)


def xxh32(data):
    """Of fewer than 16 bytes, which is all that a frame's descriptor has."""
    mask, accumulator, at = 0xFFFFFFFF, 374761393 + len(data), 0
    rotate = lambda value, by: (value << by | value >> (32 - by)) & mask
    while at + 4 <= len(data):
        accumulator = rotate((accumulator + int.from_bytes(data[at:at + 4], "little") * 3266489917) & mask, 17) * 668265263 & mask
        at += 4
    for byte in data[at:]:
        accumulator = rotate((accumulator + byte * 374761393) & mask, 11) * 2654435761 & mask
    accumulator ^= accumulator >> 15
    accumulator = accumulator * 2246822519 & mask
    accumulator ^= accumulator >> 13
    accumulator = accumulator * 3266489917 & mask
    return accumulator ^ accumulator >> 16


# Name -> (codec, body). Sizes are what fits below message.max.bytes at the format's best ratio, but at most 1 GiB.
def all_bombs():
    return {
        "gzip, 1 MB to 960 MiB": ("gzip", gzip_bomb(960 << 20)),
        "zstd, 33 KB to 1 GiB": ("zstd", zstd_bomb(1 << 30)),
        "lz4, 1 MB to 240 MiB": ("lz4", lz4_bomb(240 << 20)),
        "snappy, 1 MB to 20 MiB": ("snappy", snappy_bomb(20 << 20)),
        "zstd, 17 B that say 1 GiB": ("zstd", zstd_claim()),
        "lz4, 37 B that say 1 GiB": ("lz4", lz4_claim()),
        "snappy, 1 KB that say 1 GiB": ("snappy", snappy_claim()),
        "snappy in Java's framing, 84 B that say 2 GiB": ("snappy", snappy_framed_claim()),
    }
