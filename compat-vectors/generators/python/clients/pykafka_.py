"""pykafka, whose producers call the partitioner with the topic's partitions and the key or None."""

from . import Client, partitions


def open_client(partitioner):
    import pykafka
    from pykafka import partitioners

    kind = getattr(partitioners, partitioner)
    if partitioner == "HashingPartitioner":
        return Client(pykafka.__version__, lambda: instance(kind), partitioners.hashing_partitioner.hash_func)
    return Client(pykafka.__version__, lambda: instance(kind))


def instance(kind):
    partitioner = kind()
    return lambda key, count: partitioner(partitions(count), key)
