"""Runs the everyday commands against `copart broker`, and has their JSON validated against the published schemas.

Usage: everyday.py COPART WORK, as `run` calls it.
"""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema

COPART = sys.argv[1]
SCHEMAS = Path(__file__).resolve().parents[2] / "docs/src/schema"


def validator(name: str):
    content = json.loads((SCHEMAS / f"copart.{name}-1.schema.json").read_text())
    kind = jsonschema.validators.validator_for(content)
    kind.check_schema(content)
    return kind(content)


def check(bootstrap: str, name: str, args: list[str], code: int = 0, stdin: bytes = b"") -> list:
    """The documents that a command prints, each in order."""
    command = [COPART, *args, "--bootstrap", bootstrap]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=60)
    assert done.returncode == code, f"{args}: {done.returncode}: {done.stderr.decode()}"
    # Not splitlines: JSON may have U+2028 in it.
    lines = done.stdout.decode().split("\n")[:-1]
    documents = [json.loads(line) for line in lines] if name == "record" else [json.loads(done.stdout)]
    for document in documents:
        validator(name).validate(document)
        assert name == "record" or document["schema"] == f"copart.{name}/1"
    print(f"ok     {' '.join(args)}")
    return documents


def main() -> None:
    command = [COPART, "broker", "--listen", "127.0.0.1:0", "--nodes", "3", "--topic", "t:3:3"]
    broker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        bootstrap = broker.stdout.readline().split()[1]
        json_form = ["--output", "json"]
        produce = ["produce", "t", "--partitioner", "java", "--format", "jsonl", *json_form]
        hostile = [
            {"key": "a\"\\\n\u2028", "value": "<b>&amp;", "headers": ["h", "1", "h", None], "timestamp": 5},
            {"key": None, "value": None},
            {"key_base64": "//4=", "value_base64": "AP8=", "headers": ["x", {"base64": "gA=="}]},
            {"key": "", "value": {"nested": [1, "é"]}},
        ]
        text = b"".join(json.dumps(record).encode() + b"\n" for record in hostile)
        [report] = check(bootstrap, "produce", produce, stdin=text)
        assert (report["records"], report["failed"]) == (4, 0)
        [report] = check(bootstrap, "produce", produce, code=3, stdin=b"{}\n{\"value\":1}\nno json\n")
        assert (report["records"], report["failed"]) == (1, 2)
        [report] = check(bootstrap, "produce", produce, code=4)
        assert report["partitions"] == []
        read = check(bootstrap, "record", ["read", "t", "--output", "jsonl"])
        assert len(read) == 5
        by_key = {record.get("key"): record for record in read if "key" in record}
        assert by_key["a\"\\\n\u2028"]["headers"] == ["h", "1", "h", None]
        assert by_key["a\"\\\n\u2028"]["timestamp"] == 5
        assert any(record.get("key_base64") == "//4=" and record["value_base64"] == "AP8=" for record in read)
        check(bootstrap, "topics", ["topics", "list", *json_form])
        [topics] = check(bootstrap, "topics", ["topics", "describe", "t", "--all-configs", *json_form])
        assert len(topics["topics"][0]["configs"]) > 20
        check(bootstrap, "metadata", ["metadata", *json_form])
        [gone] = check(bootstrap, "metadata", ["metadata", "--topic", "gone", *json_form], code=2)
        assert gone["topics"][0]["error"] == "UNKNOWN_TOPIC_OR_PARTITION"
        check(bootstrap, "bench", ["bench", "produce", "t", "--records", "2000", *json_form])
        check(bootstrap, "bench", ["bench", "consume", "t", *json_form])
    finally:
        broker.terminate()
        broker.wait()


if __name__ == "__main__":
    main()
