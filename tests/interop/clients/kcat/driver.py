"""Does with kcat what each line of the input asks for: driver.py BOOTSTRAP. See ../README.md.

kcat takes one set of headers and one way to spell a null for each run, so records that differ in these go through
runs of their own, in order.
"""

import itertools
import json
import re
import subprocess
import sys

# Neither occurs in the records, which have every byte.
KEY_END, RECORD_END = "<end of the key>", "<end of the record>"
OFFSETS = {"earliest": -2, "latest": -1}

LACKS = {
    "create-configs": "has no administration",
    "groups": "its groups are librdkafka's, which confluent-kafka drives",
    "timestamps": "sets the time of sending",
}


class NotOffered(Exception):
    """kcat has no such option."""


def unhex(text):
    return bytes.fromhex(text)


class Kcat:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap

    def run(self, *arguments, data=None):
        # Without -q it tells on stderr when a partition ends.
        command = ["kcat", "-q", "-b", self.bootstrap, *map(str, arguments)]
        result = subprocess.run(command, input=data, capture_output=True, timeout=60)
        if result.returncode != 0:
            raise RuntimeError(f"kcat exited with {result.returncode}: {result.stderr.decode(errors='replace').strip()}")
        return result.stdout

    def hello(self):
        printed = subprocess.run(["kcat", "-V"], capture_output=True, text=True).stdout
        version, library = re.search(r"Version ([\w.]+).*librdkafka ([\w.]+)", printed).groups()
        return {"version": f"{version} (librdkafka {library})", "lacks": LACKS}

    def produce(self, topic, acks, compression, idempotent, records):
        settings = ["-P", "-t", topic, "-X", f"acks={acks}", "-z", compression, "-X", "linger.ms=20",
                    "-X", f"enable.idempotence={str(idempotent).lower()}", "-D", RECORD_END]

        def shape(record):
            return record["headers"], record["partition"], record["key"] is None, record["value"] is None

        for (headers, partition, keyless, tombstone), run in itertools.groupby(records, shape):
            options = list(settings)
            if partition is not None:
                options += ["-p", partition]
            for name, value in headers:
                options += ["-H", name if value is None else f"{name}={unhex(value).decode()}"]
            if not keyless:
                options += ["-K", KEY_END]
            if tombstone:
                options += ["-Z"]
            lines = []
            for record in run:
                key = b"" if keyless else unhex(record["key"]) + KEY_END.encode()
                lines.append(key + unhex(record["value"] or ""))
            self.run(*options, data=RECORD_END.encode().join(lines))
        # kcat does not tell where records went.
        return [None] * len(records)

    def read(self, topic, ends):
        found = []
        for partition, end in ends.items():
            if end == 0:
                continue
            printed = self.run("-C", "-t", topic, "-p", partition, "-o", "beginning", "-c", end, "-e", "-J", "-X", "check.crcs=true")
            # It prints bytes that are no text as they are.
            lines = printed.decode(errors="surrogateescape").split("\n")
            found += [self.record(json.loads(line)) for line in lines if line]
        return found

    @staticmethod
    def record(printed):
        def hexed(text):
            return None if text is None else text.encode(errors="surrogateescape").hex()
        # "headers": ["name", "value", "name", "value"]
        headers = printed.get("headers") or []
        pairs = [[name, hexed(value)] for name, value in zip(headers[::2], headers[1::2])]
        return {"partition": printed["partition"], "offset": printed["offset"], "timestamp": printed["ts"],
                "key": hexed(printed["key"]), "value": hexed(printed["payload"]), "headers": pairs}

    def offset(self, topic, partition, at):
        if at == "max":
            raise NotOffered("-Q takes the largest timestamp for a time")
        printed = self.run("-Q", "-t", f"{topic}:{partition}:{OFFSETS.get(at, at)}").decode()
        found = re.search(rf"\[{partition}\] offset (-?\d+)", printed)
        if not found:
            raise RuntimeError(f"kcat -Q printed {printed!r}")
        return {"offset": int(found.group(1))}

    def describe(self, topic):
        printed = json.loads(self.run("-L", "-J", "-t", topic))
        (found,) = printed["topics"]
        return {"partitions": [{"partition": one["partition"], "leader": one["leader"],
                                "replicas": [each["id"] for each in one["replicas"]],
                                "isr": [each["id"] for each in one["isrs"]]} for one in found["partitions"]]}

    def administer(self, **_):
        raise NotOffered(LACKS["create-configs"])

    create = configs = alter = grow = delete_records = delete = administer


def main():
    client = Kcat(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": getattr(client, request.pop("op"))(**request)}
        except NotOffered as why:
            answer = {"not_offered": str(why)}
        except Exception as problem:
            answer = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
