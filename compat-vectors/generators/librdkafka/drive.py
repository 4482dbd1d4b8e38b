"""Runs a built `place` program for every partitioner of librdkafka and writes the generator's output.

usage: drive.py PLACE_PROGRAM HOW KEYS_JSONL COUNTS OUT_DIR
"""

import json
import subprocess
import sys
from pathlib import Path

PARTITIONERS = ("consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random", "random")


def main(program, how, keys_file, counts, out_dir):
    out_dir = Path(out_dir)
    version = subprocess.run([program, "version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    with open(keys_file, encoding="utf-8") as lines:
        keys = [json.loads(line) for line in lines]
    stdin = "".join(f"{key['id']} {'-' if key['key_hex'] is None else key['key_hex']}\n" for key in keys)
    with open(out_dir / "runs.jsonl", "a", encoding="utf-8") as runs:
        for partitioner in PARTITIONERS:
            rows = subprocess.run([program, partitioner, counts], check=True, input=stdin,
                                  stdout=subprocess.PIPE, text=True).stdout
            name = f"librdkafka-{version}-{partitioner}.jsonl"
            (out_dir / name).write_text(rows, encoding="utf-8")
            runs.write(json.dumps({
                "file": name, "profile": f"librdkafka/{partitioner}", "client": "librdkafka",
                "version": version, "partitioner": partitioner, "how": how,
            }) + "\n")


main(*sys.argv[1:])
