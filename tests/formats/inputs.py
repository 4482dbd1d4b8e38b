"""The inputs that every output is checked on, with the exit code each must have."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path

HOSTILE = [
    b"]]>",
    b"%0A::error::x",
    b"::error file=x::y",
    b"two\nlines",
    b"\r\n::warning::z",
    b"<script>alert(1)</script>",
    b"<img src=x onerror=y>",
    b"&amp;&lt;\"'",
    b"a|b`c``d",
    b"</details></code>",
    b"\x00\x01\x1b[31m",
    b"\xff\xfe\xfd",
    "\uffff\u202e".encode(),
    b'=1+1,"quoted"',
    b"@everyone #1",
    b"[link](http://x)",
    b"*bold* _it_ ~s~",
    b"\\`\\|",
    b"   spaces   ",
    "München".encode(),
    "日本語".encode(),
    b"x" * 3000,
]

KEYS = "".join(f"user-{i}\n" for i in range(500)) + "TT0124\n100:48069\nMünchen\n"


@dataclass
class Input:
    """A file, or standard input, and how it is verified."""

    name: str
    exit_code: int
    args: list[str]
    content: bytes = b""
    file: str = "keys.txt"
    stdin: bool = False
    interrupted: bool = False
    keys: list[bytes] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Puts the file where copart will be run."""
        if not self.stdin:
            (folder / self.file).write_bytes(self.content)

    def command(self) -> list[str]:
        """What follows `copart`."""
        return ["verify", "-" if self.stdin else self.file, *self.args]


def inputs() -> list[Input]:
    """All of them."""
    keys = KEYS.encode()
    mixed = keys + b"\n\n-\n"
    hexed = b"".join(key.hex().encode() + b"\n" for key in HOSTILE)
    every = "java,ruby-kafka,librdkafka,goka,kafka-go,kafkajs@1.16,brod/hash,hash=crc32,reduce=mask"
    return [
        Input("agree", 0, ["-p", "12,30", "--clients", "java,kafkajs"], keys),
        Input(
            "agree, with null keys apart",
            0,
            ["-p", "12", "--clients", "java,kafkajs", "--null-value", "-"],
            keys + b"-\n-\n",
        ),
        Input(
            "agree at a power of two only",
            0,
            ["-p", "16", "--clients", "java,hash=murmur2,reduce=unsigned"],
            keys,
        ),
        Input(
            "disagree",
            1,
            ["-p", "1,12,16", "--clients", every, "--null-value", "-"],
            mixed,
        ),
        Input("disagree on the empty key alone", 1, ["-p", "12", "--clients", "java,ruby-kafka"], b"\n"),
        Input("disagree, with carriage returns", 1, ["-p", "12"], keys.replace(b"\n", b"\r\n")),
        Input("disagree, compressed", 1, ["-p", "12"], gzip.compress(keys), file="keys.gz"),
        Input(
            "disagree, CSV",
            1,
            ["-p", "12", "--field", "id"],
            b'id,x\n"a,b\n""c""",1\nuser-1,2\n',
            file="keys.csv",
        ),
        Input("disagree, standard input", 1, ["-p", "12"], keys, stdin=True),
        Input("inconclusive: no keys", 4, ["-p", "12"], b""),
        Input("inconclusive: null keys", 4, ["-p", "12", "--null-value", "-"], b"-\n-\n"),
        Input("inconclusive: no client pins", 4, ["-p", "12,15", "--clients", "kafka-go,pykafka"], keys),
        Input(
            "unpinned keys are to fail",
            1,
            ["-p", "12", "--clients", "kafka-go,pykafka", "--unpinned", "fail"],
            keys,
        ),
        Input(
            "hostile keys",
            1,
            ["-p", "1009", "--key-encoding", "hex", "--show", "100"],
            hexed,
            keys=HOSTILE,
        ),
        Input("hostile file name", 1, ["-p", "12"], keys, file="a,b:%0A|[x]<b>`é\t\n::error::.txt"),
        Input("interrupted", 130, ["-p", "12"], keys, stdin=True, interrupted=True),
    ]
