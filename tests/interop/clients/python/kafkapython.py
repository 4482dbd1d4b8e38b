"""kafka-python."""

import time

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec

from driver import headers_of, read_record, unhex

SPECS = {"earliest": OffsetSpec.EARLIEST, "latest": OffsetSpec.LATEST, "max": OffsetSpec.MAX_TIMESTAMP}


class Client:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        self.admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self.members = {}

    def hello(self):
        return {"version": kafka.__version__, "lacks": {"null-header": "send() takes header values as bytes only",
                                                         "group-consumer": "knows the classic protocol only",
                                                         "group-static": "static members that are polled in turns do not come to an "
                                                                         "assignment, with Apache Kafka neither"}}

    def create(self, topic, partitions, configs):
        self.admin.create_topics({topic: {"num_partitions": partitions, "replication_factor": 1, "configs": configs}})

    def produce(self, topic, acks, compression, idempotent, records):
        producer = KafkaProducer(bootstrap_servers=self.bootstrap, acks="all" if acks == -1 else acks, linger_ms=20,
                                 compression_type=None if compression == "none" else compression,
                                 enable_idempotence=idempotent)
        futures = [producer.send(topic, unhex(record["value"]), unhex(record["key"]), headers_of(record),
                                 record["partition"], record["timestamp"]) for record in records]
        producer.flush(30)
        placed = [future.get(10) for future in futures]
        producer.close()
        return [{"partition": one.partition, "offset": one.offset} for one in placed]

    def read(self, topic, ends):
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, enable_auto_commit=False, check_crcs=True)
        where = {TopicPartition(topic, int(p)): end for p, end in ends.items() if end > 0}
        consumer.assign(list(where))
        consumer.seek_to_beginning()
        found, until = [], time.monotonic() + 30
        while where and time.monotonic() < until:
            for partition, records in consumer.poll(timeout_ms=1000).items():
                found += [read_record(one.partition, one.offset, one.timestamp, one.key, one.value, one.headers)
                          for one in records]
                if records[-1].offset + 1 >= where.get(partition, 0):
                    where.pop(partition, None)
        consumer.close()
        return found

    def offset(self, topic, partition, at):
        where = TopicPartition(topic, partition)
        result = self.admin.list_partition_offsets({where: SPECS.get(at, at)})[where]
        return {"offset": result.offset, "timestamp": result.timestamp}

    def describe(self, topic):
        (found,) = self.admin.describe_topics([topic])
        return {"partitions": [{"partition": p["partition_index"], "leader": p["leader_id"], "replicas": p["replica_nodes"],
                                "isr": p["isr_nodes"]} for p in found["partitions"]]}

    def configs(self, topic):
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (answer,) = self.admin.describe_configs([resource], config_filter="all").values()
        return {name: entry["value"] for name, entry in answer[topic].items()}

    def alter(self, topic, name, value):
        self.admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})])

    def grow(self, topic, partitions):
        self.admin.create_partitions({topic: partitions})

    def delete_records(self, topic, partition, before):
        (one,) = self.admin.delete_records({TopicPartition(topic, partition): before}).values()
        return {"low_watermark": one["low_watermark"]}

    def delete(self, topic):
        self.admin.delete_topics([topic])

    def enter(self, member, group, topic, protocol, instance):
        self.members[member] = KafkaConsumer(
            topic, bootstrap_servers=self.bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
            session_timeout_ms=10000, heartbeat_interval_ms=500, **({"group_instance_id": instance} if instance else {}))

    def poll(self, member, seconds):
        consumer, records, until = self.members[member], [], time.monotonic() + seconds
        while time.monotonic() < until:
            for found in consumer.poll(timeout_ms=100).values():
                records += [[one.partition, one.offset] for one in found]
        return {"records": records, "assigned": sorted(one.partition for one in consumer.assignment())}

    def commit(self, member):
        self.members[member].commit()

    def exit(self, member):
        self.members.pop(member).close()
