"""Produces numbered records to all partitions until its input ends, and prints those that were acknowledged.

usage: producer.py BOOTSTRAP TOPIC PARTITIONS RECORDS_A_SECOND FIRST_NUMBER

It lives through the broker's crashes: librdkafka's idempotent producer sends again what was not answered, with the same
producer id and sequence numbers, so the broker's memory of producers is tested too.
"""

import sys
import threading
import time
from pathlib import Path

from confluent_kafka import Producer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from suite import history

PADDING = 8
TICK = 0.005


def main():
    bootstrap, topic, partitions, rate, number = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    producer = Producer({
        "bootstrap.servers": bootstrap, "enable.idempotence": True, "acks": "all", "linger.ms": 2,
        # A record may wait through several restarts: giving up would make a gap in the sequence.
        "message.timeout.ms": 0, "reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200, "retry.backoff.ms": 20,
        "socket.connection.setup.timeout.ms": 2000, "queue.buffering.max.messages": 20000,
    }, logger=None)

    def delivered(mine):
        def callback(error, message):
            if error is None:
                print(message.partition(), message.offset(), mine, flush=False)
            else:
                print(f"failed: {mine}: {error}", file=sys.stderr)
        return callback

    while not ended.is_set():
        started = time.monotonic()
        for _ in range(max(1, int(rate * TICK))):
            try:
                producer.produce(topic, history.value(number, PADDING), partition=number % partitions,
                                 on_delivery=delivered(number))
                number += 1
            except BufferError:
                break
        producer.poll(0)
        sys.stdout.flush()
        time.sleep(max(0, TICK - (time.monotonic() - started)))
    left = producer.flush(60)
    sys.stdout.flush()
    print(f"left: {left}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
