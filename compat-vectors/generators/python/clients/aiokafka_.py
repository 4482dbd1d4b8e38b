"""aiokafka, through the method in which its producer chooses a partition."""

import inspect
from types import SimpleNamespace

from . import Client
from .kafka_python import Metadata


def open_client(partitioner):
    import aiokafka
    import aiokafka.partitioner

    default = inspect.signature(aiokafka.AIOKafkaProducer).parameters["partitioner"].default
    if type(default).__name__ != partitioner:
        raise SystemExit(f"aiokafka {aiokafka.__version__}: the default partitioner is {type(default).__name__}")

    def fresh():
        def place(key, count):
            producer = SimpleNamespace(_partitioner=default, _metadata=Metadata(count))
            return aiokafka.AIOKafkaProducer._partition(producer, "topic", None, key, b"value", key, b"value")

        return place

    return Client(aiokafka.__version__, fresh, aiokafka.partitioner.murmur2)
