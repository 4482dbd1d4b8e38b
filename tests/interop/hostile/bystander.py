"""An ordinary client while others attack: produces a record and reads it back, again and again, until its input ends.

usage: bystander.py BOOTSTRAP TOPIC

Prints one line of JSON: how many round trips, how many failed, and their median, 99th percentile and maximum in
milliseconds. A process of its own, so that the attack's own work does not slow it down.
"""

import json
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from suite import wire

PAUSE = 0.005


def main():
    bootstrap, topic = sys.argv[1:]
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    batch = wire.batch(wire.record(b"an ordinary record" * 5), 1)
    times, failures, connection = [], [], None
    while not ended.is_set():
        started = time.monotonic()
        try:
            connection = connection or wire.Connection(bootstrap)
            offset = connection.produce(topic, 0, batch)
            heads = wire.batch_heads(connection.fetch(topic, 0, offset, max_bytes=4096)[1])
            if not heads or heads[0]["base_offset"] != offset:
                raise wire.WireError(f"the record at offset {offset} is not the one that is read there")
            times.append((time.monotonic() - started) * 1000)
        except (OSError, wire.WireError) as problem:
            failures.append(str(problem))
            connection = None
            time.sleep(0.05)
        time.sleep(PAUSE)
    times.sort()
    print(json.dumps({
        "served": len(times), "failures": failures[:5], "failed": len(failures),
        "median": statistics.median(times) if times else None,
        "p99": times[int(len(times) * 0.99)] if times else None, "max": times[-1] if times else None,
    }))


if __name__ == "__main__":
    main()
