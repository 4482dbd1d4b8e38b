"""confluent-kafka-python with its serializers for Avro (fastavro), Protobuf and JSON Schema.

usage: peer.py produce|consume BOOTSTRAP REGISTRY avro|protobuf|json TOPIC COUNT

`produce` writes orders of the first version of the schema; `consume` reads them as orders of the second, and prints each as a
line of JSON. The modules order_1_pb2 and order_2_pb2 are made of schemas/*.proto by `run`.
"""

import json
import struct
import sys
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

SCHEMAS = Path(__file__).resolve().parent / "schemas"


def text(name):
    return (SCHEMAS / name).read_text()


def order(number):
    return {
        "id": number * 1_000_003 - 5,
        "customer": f"Żaneta {number}",
        "note": f"note {number}" if number % 2 else None,
        "price": number * 0.25,
        "tags": [f"tag-{tag}" for tag in range(number % 3)],
    }


def serializer(form, registry):
    """Writes an order of the first version."""
    if form == "avro":
        return AvroSerializer(registry, text("order-1.avsc"))
    if form == "json":
        return JSONSerializer(text("order-1.json"), registry)
    import order_1_pb2

    inner = ProtobufSerializer(order_1_pb2.Order, registry, {"use.deprecated.format": False})
    return lambda value, context: inner(order_1_pb2.Order(**value), context)


def deserializer(form, registry):
    """Reads one as an order of the second version, a dictionary."""
    if form == "avro":
        return AvroDeserializer(registry, text("order-2.avsc"))
    if form == "json":
        inner = JSONDeserializer(text("order-2.json"), schema_registry_client=registry)

        def read(value, context):
            found = inner(value, context)
            found["buyer"] = found.pop("customer", None) or found["buyer"]
            return {"note": None, "rating": 7, **found}

        return read
    import order_2_pb2

    inner = ProtobufDeserializer(order_2_pb2.Order, {"use.deprecated.format": False}, registry)

    def read(value, context):
        found = inner(value, context)
        return {
            "id": found.id, "buyer": found.buyer, "note": found.note if found.HasField("note") else None,
            "price": found.price, "tags": list(found.tags), "rating": found.rating,
        }

    return read


def main():
    mode, bootstrap, url, form, topic, count = sys.argv[1:]
    registry = SchemaRegistryClient({"url": url})
    context = SerializationContext(topic, MessageField.VALUE)
    if mode == "produce":
        write, failures = serializer(form, registry), []
        producer = Producer({"bootstrap.servers": bootstrap})
        for number in range(int(count)):
            producer.produce(topic, key=struct.pack(">q", number), value=write(order(number), context),
                             on_delivery=lambda error, _: error and failures.append(error))
        left = producer.flush(30)
        if left or failures:
            sys.exit(f"not written: {left} {failures}")
        return
    read, seen = deserializer(form, registry), 0
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"python-{topic}",
                         "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    while seen < int(count):
        message = consumer.poll(30)
        if message is None or message.error():
            sys.exit(f"nothing comes: {message and message.error()}")
        (key,) = struct.unpack(">q", message.key())
        print(json.dumps({"key": key, **read(message.value(), context)}))
        seen += 1
    consumer.close()


if __name__ == "__main__":
    main()
