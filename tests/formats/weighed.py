"""Runs `copart movement`, `skew` and `size` with each output and has others read what they wrote.

Usage: weighed.py COPART WORK, as `run` calls it.
"""

import csv
import io
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options
from lxml import etree, html

from inputs import HOSTILE, KEYS, Input
from validate import ANT, COMMAND, JENKINS, ROOT, SARIF, last_line, multitool, run, schema

OUTPUTS = ["json", "jsonl", "csv", "markdown", "junit", "sarif", "github"]
OF_SIZE = ["json", "csv", "markdown"]
SCHEMAS = {
    name: schema(ROOT / f"docs/src/schema/copart.{name}-1.schema.json") for name in ("movement", "skew", "size")
}


@dataclass
class Weighed(Input):
    """An input of another command than verify."""

    verb: str = ""

    def command(self) -> list[str]:
        keys = [] if self.verb == "size" else super().command()[1:2]
        return [self.verb, *keys, *self.args]


def inputs() -> list[Weighed]:
    keys = KEYS.encode() + b"bot\n" * 200
    hexed = b"".join(key.hex().encode() + b"\n" for key in HOSTILE) * 2
    move, skew = ["--from", "java:8", "--to", "12"], ["-p", "12,30"]
    counts = b"key,n\nbot,1000\nann,0\n\"a,b\",7\n"
    weigh = ["--field", "key", "--count-field", "n"]
    size = ["--throughput", "100MB/s", "--produce-per-partition", "10MB/s", "--brokers", "6"]
    encoded = ["--key-encoding", "hex"]
    return [
        Weighed("movement", 0, move, keys, verb="movement"),
        Weighed("movement over its limit", 1, [*move, "--max-moved", "5"], keys, verb="movement"),
        Weighed("movement of both", 0, ["--from", "sarama:6", "--to", "java:9"], keys, verb="movement"),
        Weighed("movement, estimated", 0, [*move, "--exact-keys", "10"], keys, verb="movement"),
        Weighed("movement of hostile keys", 0, [*encoded, *move], hexed, verb="movement"),
        Weighed("movement, weighed", 0, [*weigh, *move], counts, file="counts.csv", verb="movement"),
        Weighed("movement of nothing", 4, move, b"", verb="movement"),
        Weighed("movement, interrupted", 130, move, keys, stdin=True, interrupted=True, verb="movement"),
        Weighed("skew", 0, skew, keys, verb="skew"),
        Weighed("skew over its limit", 1, [*skew, "--max-skew", "1.01"], keys, verb="skew"),
        Weighed("skew of hostile keys", 0, [*encoded, *skew], hexed, verb="skew"),
        Weighed("skew, hostile file name", 0, skew, keys, file="a,b:%0A|[x]<b>`é\t\n::error::.txt", verb="skew"),
        Weighed("skew, standard input", 0, skew, keys, stdin=True, verb="skew"),
        Weighed("skew of nothing pinned", 4, [*skew, "--client", "kafka-go"], keys, verb="skew"),
        Weighed("skew, interrupted", 130, skew, keys, stdin=True, interrupted=True, verb="skew"),
        Weighed("size", 0, size, verb="size", stdin=True),
        Weighed("size without an answer", 1, [*size, "--hot-key", "50%"], verb="size", stdin=True),
    ]


def check_csv(out: bytes, case: Weighed, report: dict) -> None:
    rows = list(csv.DictReader(io.StringIO(out.decode(), newline=""), strict=True))
    assert all(None not in row and None not in row.values() for row in rows)
    if case.verb == "movement":
        assert sum(int(row["records"]) for row in rows) == report["records"]["total"]
    elif case.verb == "skew":
        assert len(rows) == sum(len(count["loads"]) for count in report["counts"])
    else:
        assert [int(row["partitions"]) for row in rows] == [c["partitions"] for c in report["candidates"]]


def check_markdown(out: bytes, report: dict) -> None:
    page = html.fromstring(cmarkgfm.github_flavored_markdown_to_html(out.decode(), Options.CMARK_OPT_UNSAFE))
    tags = {element.tag for element in page.iter() if isinstance(element.tag, str)}
    # Renderers make links of the sources of limits, which is welcome; keys must not become any.
    links = {"a"} if report["schema"] == "copart.size/1" else set()
    assert tags <= links | set("div p strong code pre table thead tbody tr th td h4".split()), tags
    assert page.findtext(".//strong").replace(" ", "_") == report["verdict"]
    for table in page.iterfind(".//table"):
        columns = len(table.findall("thead/tr/th"))
        assert all(len(row.findall("td")) == columns for row in table.findall("tbody/tr"))


def check_ci(out: dict, case: Weighed, report: dict, folder: Path) -> None:
    document = etree.fromstring(out["junit"])
    for known in [*JENKINS, ANT]:
        known.assertValid(document)
    trouble = document.findall(".//failure") + document.findall(".//error")
    assert bool(trouble) == (case.exit_code != 0)

    log = json.loads(out["sarif"])
    SARIF.validate(log)
    (sarif,) = log["runs"]
    assert sarif["invocations"][0]["exitCode"] == case.exit_code
    assert any(result["level"] == "error" for result in sarif["results"]) == (case.exit_code != 0)
    multitool(out["sarif"], case, folder)

    lines = out["github"].decode().split("\n")
    assert lines.pop() == ""
    levels = []
    for line in lines:
        match = COMMAND.fullmatch(line)
        assert match, line
        levels.append(match[1])
    assert levels[-1] == "notice" and levels.count("notice") == 1
    assert ("error" in levels) == (case.exit_code != 0)


def check(case: Weighed) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.write(folder)
        outputs = OF_SIZE if case.verb == "size" else OUTPUTS
        out = {output: run(case, output, folder) for output in outputs}
        report = json.loads(out["json"])
        SCHEMAS[case.verb].validate(report)
        check_csv(out["csv"], case, report)
        check_markdown(out["markdown"], report)
        if case.verb != "size":
            assert report["partial"] == case.interrupted
            verdict = json.loads(out["jsonl"].decode().split("\n")[-2])
            assert (verdict["type"], verdict["exit_code"]) == ("verdict", case.exit_code)
            check_ci(out, case, report, folder)


def main() -> None:
    failed = []
    for case in inputs():
        try:
            check(case)
        except Exception as error:  # Every input is tried, and each failure told.
            failed.append(case.name)
            print(f"FAILED {case.name}: {type(error).__name__}: {str(error)[:2000]}")
            print(f"  at line {last_line(error, __file__)} of weighed.py")
        else:
            print(f"ok     {case.name}")
    if failed:
        sys.exit(f"{len(failed)} of {len(inputs())} inputs failed")


if __name__ == "__main__":
    main()
