"""aiokafka."""

import asyncio
import time

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from driver import NotOffered, headers_of, read_record, unhex


def check(answer):
    """aiokafka's admin client hands out answers without looking at their error codes."""
    for entry in getattr(answer, "topic_errors", None) or getattr(answer, "topic_error_codes", None) or answer.resources:
        code = entry[0] if isinstance(entry[0], int) else entry[1]
        if code:
            raise RuntimeError(f"error {code}: {entry}")


class Client:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        self.loop = asyncio.new_event_loop()
        self.members = {}

    def run(self, make, work):
        """Starts a client, has it do `work`, and stops it."""
        async def whole():
            client = make()
            await client.start()
            try:
                return await work(client)
            finally:
                await (client.close() if isinstance(client, AIOKafkaAdminClient) else client.stop())
        return self.loop.run_until_complete(whole())

    def admin(self, work):
        return self.run(lambda: AIOKafkaAdminClient(bootstrap_servers=self.bootstrap), work)

    def hello(self):
        return {"version": aiokafka.__version__, "lacks": {"group-consumer": "knows the classic protocol only"}}

    def create(self, topic, partitions, configs):
        check(self.admin(lambda admin: admin.create_topics([NewTopic(topic, partitions, 1, topic_configs=configs)])))

    def produce(self, topic, acks, compression, idempotent, records):
        async def send(producer):
            futures = [await producer.send(topic, unhex(record["value"]), unhex(record["key"]), record["partition"],
                                           record["timestamp"], headers_of(record)) for record in records]
            return await asyncio.wait_for(asyncio.gather(*futures), 30)
        placed = self.run(lambda: AIOKafkaProducer(
            bootstrap_servers=self.bootstrap, acks="all" if acks == -1 else acks, linger_ms=20,
            compression_type=None if compression == "none" else compression, enable_idempotence=idempotent), send)
        return [{"partition": one.partition, "offset": one.offset} for one in placed]

    def read(self, topic, ends):
        async def receive(consumer):
            where = {TopicPartition(topic, int(p)): end for p, end in ends.items() if end > 0}
            consumer.assign(list(where))
            await consumer.seek_to_beginning()
            found, until = [], time.monotonic() + 30
            while where and time.monotonic() < until:
                for partition, records in (await consumer.getmany(timeout_ms=1000)).items():
                    found.extend(read_record(one.partition, one.offset, one.timestamp, one.key, one.value, one.headers)
                                 for one in records)
                    if records[-1].offset + 1 >= where.get(partition, 0):
                        where.pop(partition, None)
            return found
        return self.run(lambda: AIOKafkaConsumer(bootstrap_servers=self.bootstrap, enable_auto_commit=False), receive)

    def offset(self, topic, partition, at):
        where = TopicPartition(topic, partition)

        async def ask(consumer):
            consumer.assign([where])
            if at == "earliest":
                return {"offset": (await consumer.beginning_offsets([where]))[where]}
            if at == "latest":
                return {"offset": (await consumer.end_offsets([where]))[where]}
            found = (await consumer.offsets_for_times({where: at}))[where]
            return {"offset": found.offset, "timestamp": found.timestamp} if found else {"offset": -1, "timestamp": -1}
        if at == "max":
            raise NotOffered("no call for the largest timestamp")
        return self.run(lambda: AIOKafkaConsumer(bootstrap_servers=self.bootstrap, enable_auto_commit=False), ask)

    def describe(self, topic):
        (found,) = self.admin(lambda admin: admin.describe_topics([topic]))
        return {"partitions": [{"partition": p["partition"], "leader": p["leader"], "replicas": p["replicas"],
                                "isr": p["isr"]} for p in found["partitions"]]}

    def configs(self, topic):
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (answer,) = self.admin(lambda admin: admin.describe_configs([resource]))
        ((code, message, _, _, entries),) = answer.resources
        if code:
            raise RuntimeError(f"error {code}: {message}")
        return {entry[0]: entry[1] for entry in entries}

    def alter(self, topic, name, value):
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})
        for answer in self.admin(lambda admin: admin.alter_configs([resource])):
            check(answer)

    def grow(self, topic, partitions):
        check(self.admin(lambda admin: admin.create_partitions({topic: NewPartitions(partitions)})))

    def delete_records(self, topic, partition, before):
        where = TopicPartition(topic, partition)
        return {"low_watermark": self.admin(lambda admin: admin.delete_records({where: RecordsToDelete(before)}))[where]}

    def delete(self, topic):
        check(self.admin(lambda admin: admin.delete_topics([topic])))

    def enter(self, member, group, topic, protocol, instance):
        async def start():
            consumer = AIOKafkaConsumer(topic, bootstrap_servers=self.bootstrap, group_id=group, auto_offset_reset="earliest",
                                        enable_auto_commit=False, session_timeout_ms=10000, heartbeat_interval_ms=500,
                                        group_instance_id=instance)
            # Waits for its assignment, which another member's turn may have to come before.
            self.members[member] = (consumer, asyncio.ensure_future(consumer.start()))
            await asyncio.sleep(0)
        self.loop.run_until_complete(start())

    def poll(self, member, seconds):
        async def receive():
            consumer, started = self.members[member]
            records, until = [], time.monotonic() + seconds
            while time.monotonic() < until:
                if not started.done():
                    await asyncio.wait([started], timeout=0.1)
                    continue
                started.result()
                for found in (await consumer.getmany(timeout_ms=100)).values():
                    records += [[one.partition, one.offset] for one in found]
            return {"records": records, "assigned": sorted(one.partition for one in consumer.assignment())}
        return self.loop.run_until_complete(receive())

    def commit(self, member):
        self.loop.run_until_complete(self.members[member][0].commit())

    def exit(self, member):
        self.loop.run_until_complete(self.members.pop(member)[0].stop())
