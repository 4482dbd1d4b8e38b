"""Runs `copart infer`, `copartition`, `lint` and `check` with each output and has others read what they wrote.

Usage: answers.py COPART WORK, as `run` calls it.
"""

import csv
import io
import json
import sys
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
from referencing import Registry, Resource

from inputs import HOSTILE, Input
from validate import ROOT, last_line, run
from weighed import OUTPUTS, check_ci, check_markdown

VERBS = ("infer", "copartition", "lint", "check")


def schemas() -> dict:
    """Validators by command; the schema of copartition refers to that of infer."""
    contents = {verb: json.loads((ROOT / f"docs/src/schema/copart.{verb}-1.schema.json").read_text()) for verb in VERBS}
    registry = Registry().with_resources((content["$id"], Resource.from_contents(content)) for content in contents.values())
    for content in contents.values():
        jsonschema.Draft202012Validator.check_schema(content)
    return {verb: jsonschema.Draft202012Validator(content, registry=registry) for verb, content in contents.items()}


SCHEMAS = schemas()


@dataclass
class Answer(Input):
    """An input of one of these commands; `content` goes to its first file."""

    verb: str = ""
    more: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        super().write(folder)
        for name, content in self.more.items():
            (folder / name).write_bytes(content)

    def command(self) -> list[str]:
        file = "-" if self.stdin else self.file
        files = {"infer": ["--input", file], "copartition": [file, "other.csv"]}.get(self.verb, [file])
        return [self.verb, *files, *self.args]


def fnv(key: bytes) -> int:
    """Sarama's hash and its sign rule, written down again here; at 12 partitions."""
    value = 0x811C9DC5
    for byte in key:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    signed = value - (1 << 32) if value >> 31 else value
    return abs(signed) % 12


def crc(key: bytes) -> int:
    return zlib.crc32(key) % 12


def dump(*parts: tuple) -> bytes:
    """CSV rows of keys in hexadecimal, each placed by a function."""
    rows = [f"{place(key)},{key.hex()}" for place, keys in parts for key in keys]
    return "\n".join(["partition,key", *rows, ""]).encode()


def contract(topic: str, more: str = "", name: str = "p") -> bytes:
    return f"contract = 1\n[[topic]]\n{topic}\n[[topic.producer]]\nname = {json.dumps(name)}\nclient = \"kafkajs\"\nlock = \"package-lock.json\"\n{more}".encode()


def lock(release: str) -> dict:
    entry = {"packages": {"node_modules/kafkajs": {"version": release}}}
    return {"package-lock.json": json.dumps({"lockfileVersion": 3, **entry}, indent=1).encode()}


def inputs() -> list[Answer]:
    users = [f"user-{i}".encode() for i in range(300)]
    wild = [key for key in HOSTILE if len(key) < 2000]
    hexed = ["--format", "csv", "--key-encoding", "hex", "-p", "12"]
    one = dump((fnv, users))
    mixed = dump((fnv, users), (crc, users[:150]), (crc, wild), (fnv, wild))
    hostile = b"\n".join(key.hex().encode() for key in HOSTILE) + b"\n"
    topic = 'name = "orders"\npartitions = 12\nprofile = "kafkajs/legacy"\nkeys = [{ key = "ab" }, { hex = "00ff" }]'
    wild_key = json.dumps("]]>%0A::error::x<script>|`")
    named = contract(topic.replace('"ab"', wild_key), name="a|b<b>,:%0A\n::error::]]>")
    infer = {"verb": "infer", "file": "dump.csv"}
    pair = {"verb": "copartition", "file": "dump.csv"}
    check = {"verb": "check", "file": "copart.toml"}
    return [
        Answer("infer", 0, hexed, one, **infer),
        Answer("infer, expected", 0, [*hexed, "--expect", "sarama"], one, **infer),
        Answer("infer, not as expected", 1, [*hexed, "--expect", "java"], one, **infer),
        Answer("infer, mixed and hostile", 1, hexed, mixed, **infer),
        Answer("infer, too few", 4, hexed, dump((fnv, users[:2])), **infer),
        Answer("infer, standard input", 0, hexed, one, stdin=True, verb="infer"),
        Answer("infer, nothing", 4, hexed, b"partition,key\n", **infer),
        Answer("infer, interrupted", 130, hexed, one, stdin=True, interrupted=True, verb="infer"),
        Answer("copartition", 0, hexed, one, more={"other.csv": dump((fnv, users[50:]))}, **pair),
        Answer("copartition, apart", 1, hexed, one, more={"other.csv": mixed}, **pair),
        Answer("copartition, unknown", 4, hexed, one, more={"other.csv": b"partition,key\n"}, **pair),
        Answer("lint, clean", 0, [], b"user-1\nuser-2\n", verb="lint"),
        Answer("lint, hostile keys", 1, ["--key-encoding", "hex"], hostile, verb="lint"),
        Answer("lint, two spellings", 1, [], "é\ne\u0301\n07\n7\n x\n".encode(), verb="lint"),
        Answer("lint, hostile file name", 1, [], b"07\n", file="a,b:%0A|[x]<b>`é\t\n::error::.txt", verb="lint"),
        Answer("lint, nothing", 4, [], b"", verb="lint"),
        Answer("lint, interrupted", 130, [], b"a\nb\n", stdin=True, interrupted=True, verb="lint"),
        Answer("check, kept", 0, [], contract(topic), more=lock("1.16.0"), **check),
        Answer("check, an upgrade", 1, [], contract(topic), more=lock("2.2.4"), **check),
        Answer("check, hostile", 1, [], named, more=lock("2.2.4"), **check),
        Answer("check, no contract", 2, [], b"contract = 1\n[[topic]]\nnam = 1\n", **check),
        Answer("check, unreadable", 3, [], contract(topic), more={"package-lock.json": b"{"}, **check),
        Answer("check, unknown release", 4, [], contract(topic), more=lock("2.0.0-rc.1"), **check),
        Answer("check, records", 1, [], contract(topic, '[[topic.records]]\ninput = "dump.csv"\nkey-encoding = "hex"\n'),
               more={**lock("1.16.0"), "dump.csv": one}, **check),
    ]


def check_lines(out: bytes, case: Answer, report: dict) -> None:
    lines = [json.loads(line) for line in out.decode().split("\n")[:-1]]
    assert all("type" in line for line in lines)
    assert lines[0]["schema"] == report["schema"], lines[0]
    assert lines[-1]["type"] == "verdict"
    assert (lines[-1]["verdict"], lines[-1]["exit_code"]) == (report["verdict"], case.exit_code)


def check(case: Answer) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.write(folder)
        out = {output: run(case, output, folder) for output in OUTPUTS}
        report = json.loads(out["json"])
        SCHEMAS[case.verb].validate(report)
        assert report["partial"] == case.interrupted
        rows = list(csv.DictReader(io.StringIO(out["csv"].decode(), newline=""), strict=True))
        assert all(None not in row and None not in row.values() for row in rows)
        check_lines(out["jsonl"], case, report)
        check_markdown(out["markdown"], report)
        check_ci(out, case, report, folder)


def main() -> None:
    failed = []
    for case in inputs():
        try:
            check(case)
        except Exception as error:  # Every input is tried, and each failure told.
            failed.append(case.name)
            print(f"FAILED {case.name}: {type(error).__name__}: {str(error)[:2000]}")
            print(f"  at line {last_line(error, __file__)} of answers.py")
        else:
            print(f"ok     {case.name}")
    if failed:
        sys.exit(f"{len(failed)} of {len(inputs())} inputs failed")


if __name__ == "__main__":
    main()
