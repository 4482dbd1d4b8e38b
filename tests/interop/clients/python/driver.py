"""Does with a Python client what each line of the input asks for: driver.py CLIENT BOOTSTRAP. See ../README.md."""

import importlib
import json
import sys

MODULES = {"confluent-kafka": "confluent", "kafka-python": "kafkapython", "aiokafka": "aio"}


class NotOffered(Exception):
    """The client has no such call."""


def unhex(text):
    return None if text is None else bytes.fromhex(text)


def hexed(data):
    return None if data is None else bytes(data).hex()


def headers_of(record):
    return [(name, unhex(value)) for name, value in record["headers"]]


def read_record(partition, offset, timestamp, key, value, headers):
    return {"partition": partition, "offset": offset, "timestamp": timestamp, "key": hexed(key), "value": hexed(value),
            "headers": [[name, hexed(content)] for name, content in headers or []]}


def main():
    name, bootstrap = sys.argv[1:]
    # So that a client that prints cannot disturb the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    client = importlib.import_module(MODULES[name]).Client(bootstrap)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": getattr(client, request.pop("op"))(**request)}
        except NotOffered as why:
            answer = {"not_offered": str(why)}
        except Exception as problem:
            answer = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    # The clients' modules import this one; it should not be loaded a second time under another name.
    sys.modules["driver"] = sys.modules["__main__"]
    main()
