"""Reads and writes each row of avro.tsv with fastavro, and compares the bytes."""

import io
import json
import sys

import fastavro
from fastavro import json_reader, parse_schema, schemaless_reader, schemaless_writer


def without_logical(schema):
    """Java wrote plain numbers and bytes; Python's dates don't reach as far as those."""
    if isinstance(schema, dict):
        return {k: without_logical(v) for k, v in schema.items() if k not in ("logicalType", "precision", "scale")}
    if isinstance(schema, list):
        return [without_logical(part) for part in schema]
    return schema


def reads_json(text):
    """fastavro's JSON reader doesn't end on a type within itself; Java's writer has no text for an empty record."""
    return '"next"' not in text and '"fields":[]' not in text


def main():
    rows = texts = 0
    with open(sys.argv[1], encoding="utf-8") as table:
        for line in table:
            text, value, expected = line.rstrip("\n").split("\t")
            expected = b"" if expected == "." else bytes.fromhex(expected)
            schema = parse_schema(without_logical(json.loads(text)))
            values = [schemaless_reader(io.BytesIO(expected), schema, None)]
            if reads_json(text):
                values.append(next(iter(json_reader(io.StringIO(value), schema))))
                texts += 1
            for read in values:
                out = io.BytesIO()
                schemaless_writer(out, schema, read)
                if out.getvalue() != expected:
                    sys.exit(f"fastavro {fastavro.__version__} writes {out.getvalue().hex()}: {line}")
            rows += 1
    print(f"{rows} rows as fastavro {fastavro.__version__} makes them, {texts} of them by their JSON too")


main()
