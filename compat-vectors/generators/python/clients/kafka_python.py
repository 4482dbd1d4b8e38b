"""kafka-python 1, 2 and 3, through the methods in which its producers choose a partition."""

import sys
from importlib.util import find_spec
from types import SimpleNamespace

from . import Client, partitions


def open_client(partitioner):
    # The requirements of the versions concerned name six.
    if sys.version_info >= (3, 12) and find_spec("six"):
        replace_vendored_six()
    import kafka

    return (keyed_producer if partitioner == "HashedPartitioner" else kafka_producer)(kafka, partitioner)


def replace_vendored_six():
    """Versions before 2.1 carry an old `six`, whose import hook Python 3.12 no longer calls.

    The current `six` is registered under the carried one's names. kafka-python
    uses it to be one source for Python 2 and 3; no partitioner comes from it.
    """
    import six
    import six.moves

    sys.modules["kafka.vendor.six"] = six
    sys.modules["kafka.vendor.six.moves"] = six.moves


class Metadata:
    """A topic whose partitions are all available, as a producer's cluster metadata tells it."""

    def __init__(self, count):
        self.count = count

    def topics(self):
        return {"topic"}

    def partitions_for_topic(self, topic):
        return partitions(self.count)

    available_partitions_for_topic = partitions_for_topic


def kafka_producer(kafka, partitioner):
    default = kafka.KafkaProducer.DEFAULT_CONFIG["partitioner"]
    if type(default).__name__ != partitioner:
        raise SystemExit(f"kafka-python {kafka.__version__}: the default partitioner is {type(default).__name__}")

    def fresh():
        config = dict(kafka.KafkaProducer.DEFAULT_CONFIG)

        def place(key, count):
            producer = SimpleNamespace(config=config, _metadata=Metadata(count))
            return kafka.KafkaProducer._partition(producer, "topic", None, key, b"value", key, b"value")

        return place

    return Client(kafka.__version__, fresh, sys.modules[type(default).__module__].murmur2)


def keyed_producer(kafka, partitioner):
    """The producer that had HashedPartitioner as its default, until 2.0 removed both."""

    def fresh():
        client = SimpleNamespace(has_metadata_for_topic=lambda topic: True)
        producer = kafka.KeyedProducer(client)

        def place(key, count):
            # The producer keeps a partitioner per topic.
            client.get_partition_ids_for_topic = lambda topic: partitions(count)
            return producer._next_partition(f"topic-{count}", key)

        if producer.partitioner_class is not getattr(kafka.partitioner, partitioner):
            raise SystemExit(f"kafka-python {kafka.__version__}: the default is {producer.partitioner_class}")
        return place

    return Client(kafka.__version__, fresh)
