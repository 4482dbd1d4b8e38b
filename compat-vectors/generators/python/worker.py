"""worker.py PACKAGES CLIENT PARTITIONERS KEYS_JSONL COUNTS REPEATS

One process of a client: with each partitioner, places every key at every count
on fresh instances, REPEATS times in a row, and prints the placements as JSON.
"""

import importlib
import json
import sys
from pathlib import Path


def main(packages, client, partitioners, keys_file, counts, repeats):
    sys.path[:0] = [packages, str(Path(__file__).parent)]
    library = importlib.import_module(f"clients.{client}")
    with open(keys_file, encoding="utf-8") as lines:
        hex_keys = [json.loads(line)["key_hex"] for line in lines]
    keys = [None if key is None else bytes.fromhex(key) for key in hex_keys]
    counts = [int(count) for count in counts.split(",")]
    answers = {name: ask(library.open_client(name), keys, counts, int(repeats)) for name in partitioners.split(",")}
    json.dump(answers, sys.stdout)


def ask(client, keys, counts, repeats):
    return {
        "version": client.version,
        "hashes": [client.hash(key) if client.hash and key is not None else None for key in keys],
        "placed": [[place(client.fresh(), key, count, repeats) for count in counts] for key in keys],
    }


def place(instance, key, count, repeats):
    outcomes = []
    for _ in range(repeats):
        try:
            outcomes.append(instance(key, count))
        except Exception as refusal:
            outcomes.append(f"{type(refusal).__name__}: {refusal}")
    return outcomes


main(*sys.argv[1:])
