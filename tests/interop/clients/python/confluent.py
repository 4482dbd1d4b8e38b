"""confluent-kafka: librdkafka's newest release."""

import time

import confluent_kafka
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic,
                                   OffsetSpec, ResourceType)

from driver import headers_of, read_record, unhex

SPECS = {"earliest": OffsetSpec.earliest, "latest": OffsetSpec.latest, "max": OffsetSpec.max_timestamp}


class Client:
    def __init__(self, bootstrap):
        self.common = {"bootstrap.servers": bootstrap}
        self.admin = AdminClient(self.common)
        self.members = {}

    def hello(self):
        return {"version": f"{confluent_kafka.__version__} (librdkafka {confluent_kafka.libversion()[0]})", "lacks": {}}

    def create(self, topic, partitions, configs):
        self.admin.create_topics([NewTopic(topic, partitions, 1, config=configs)])[topic].result()

    def produce(self, topic, acks, compression, idempotent, records, partitioner=None):
        chosen = {} if partitioner is None else {"partitioner": partitioner}
        producer = Producer({**self.common, "acks": acks, "compression.type": compression, "linger.ms": 20,
                             "enable.idempotence": idempotent, **chosen})
        placed = [None] * len(records)
        failed = []

        def delivered(index):
            def callback(error, message):
                if error:
                    failed.append(error)
                else:
                    placed[index] = {"partition": message.partition(), "offset": message.offset()}
            return callback

        for index, record in enumerate(records):
            explicit = {} if record["partition"] is None else {"partition": record["partition"]}
            producer.produce(topic, unhex(record["value"]), unhex(record["key"]), headers=headers_of(record),
                             timestamp=record["timestamp"], on_delivery=delivered(index), **explicit)
        left = producer.flush(30)
        if failed or left:
            raise RuntimeError(f"{left} not delivered; errors: {failed[:3]}")
        return placed

    def read(self, topic, ends):
        consumer = Consumer({**self.common, "group.id": "interop-unused", "enable.auto.commit": False,
                             "check.crcs": True, "auto.offset.reset": "error"})
        wanted, found, until = {int(p): end for p, end in ends.items() if end > 0}, [], time.monotonic() + 30
        consumer.assign([TopicPartition(topic, partition, confluent_kafka.OFFSET_BEGINNING) for partition in wanted])
        while wanted and time.monotonic() < until:
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error():
                raise RuntimeError(str(message.error()))
            found.append(read_record(message.partition(), message.offset(), message.timestamp()[1], message.key(),
                                     message.value(), message.headers()))
            if message.offset() + 1 >= wanted.get(message.partition(), 0):
                wanted.pop(message.partition(), None)
        consumer.close()
        return found

    def offset(self, topic, partition, at):
        spec = SPECS[at]() if isinstance(at, str) else OffsetSpec.for_timestamp(at)
        where = TopicPartition(topic, partition)
        result = self.admin.list_offsets({where: spec})[where].result()
        # librdkafka says "end" (-1) as -1001 in some calls.
        return {"offset": -1 if result.offset < 0 else result.offset, "timestamp": result.timestamp}

    def describe(self, topic):
        found = self.admin.list_topics(topic, 10).topics[topic]
        return {"partitions": [{"partition": p.id, "leader": p.leader, "replicas": p.replicas, "isr": p.isrs}
                               for p in found.partitions.values()]}

    def configs(self, topic):
        resource = ConfigResource(ResourceType.TOPIC, topic)
        return {entry.name: entry.value for entry in self.admin.describe_configs([resource])[resource].result().values()}

    def alter(self, topic, name, value):
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result()

    def grow(self, topic, partitions):
        self.admin.create_partitions([NewPartitions(topic, partitions)])[topic].result()

    def delete_records(self, topic, partition, before):
        where = TopicPartition(topic, partition, before)
        return {"low_watermark": self.admin.delete_records([where])[where].result().low_watermark}

    def delete(self, topic):
        self.admin.delete_topics([topic])[topic].result()

    def enter(self, member, group, topic, protocol, instance):
        options = {**self.common, "group.id": group, "group.protocol": protocol, "auto.offset.reset": "earliest",
                   "enable.auto.commit": False, **({"group.instance.id": instance} if instance else {})}
        if protocol == "classic":
            options.update({"session.timeout.ms": 10000, "heartbeat.interval.ms": 500})
        self.members[member] = Consumer(options)
        self.members[member].subscribe([topic])

    def poll(self, member, seconds):
        consumer, records, until = self.members[member], [], time.monotonic() + seconds
        while time.monotonic() < until:
            message = consumer.poll(0.1)
            if message is not None and message.error():
                raise RuntimeError(str(message.error()))
            if message is not None:
                records.append([message.partition(), message.offset()])
        return {"records": records, "assigned": sorted(one.partition for one in consumer.assignment())}

    def commit(self, member):
        self.members[member].commit(asynchronous=False)

    def exit(self, member):
        self.members.pop(member).close()
