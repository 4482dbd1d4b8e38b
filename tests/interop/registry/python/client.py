#!/usr/bin/env python3
"""confluent-kafka-python against a registry: its client's calls, and records of its three serializers.

usage: client.py BOOTSTRAP URL write|read

Prints a line for each part that holds; fails with the first that does not.
"""

import sys

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.schema_registry import ConfigCompatibilityLevel, Schema, SchemaReference, SchemaRegistryClient, ServerConfig
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

RECORDS = 50
USER = '{"type": "record", "name": "test.User", "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]}'
LATER = ('{"type": "record", "name": "test.User", "fields": [{"name": "id", "type": "long"}, '
         '{"name": "full", "type": "string", "aliases": ["name"]}, {"name": "age", "type": ["null", "int"], "default": null}]}')
WRONG = '{"type": "record", "name": "test.User", "fields": [{"name": "id", "type": "string"}]}'
JSON_SCHEMA = ('{"$schema": "http://json-schema.org/draft-07/schema#", "title": "User", "type": "object", '
               '"properties": {"id": {"type": "integer"}, "name": {"type": "string"}}, "required": ["id"]}')


def expect(found, wanted, what):
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


def refused(call, status, code, what):
    try:
        call()
    except SchemaRegistryError as error:
        expect((error.http_status_code, error.error_code), (status, code), what)
    else:
        raise SystemExit(f"{what}: it was not refused")


def messages():
    """Classes of a file that imports one of its own and one of Google's, as protoc would generate them."""
    pool = descriptor_pool.DescriptorPool()
    google = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(google)
    pool.Add(google)
    part = descriptor_pb2.FileDescriptorProto(name="test/part.proto", package="test", syntax="proto3")
    message = part.message_type.add(name="Part")
    message.field.add(name="number", number=1, type="TYPE_INT64", label="LABEL_OPTIONAL")
    pool.Add(part)
    whole = descriptor_pb2.FileDescriptorProto(name="test/whole.proto", package="test", syntax="proto3",
                                               dependency=["test/part.proto", "google/protobuf/timestamp.proto"])
    whole.message_type.add(name="Unused")
    message = whole.message_type.add(name="Whole")
    message.field.add(name="name", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    message.field.add(name="parts", number=2, type="TYPE_MESSAGE", label="LABEL_REPEATED", type_name=".test.Part")
    message.field.add(name="at", number=3, type="TYPE_MESSAGE", label="LABEL_OPTIONAL", type_name=".google.protobuf.Timestamp")
    pool.Add(whole)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("test.Whole"))


def whole(kind, number):
    message = kind(name=f"name {number}")
    message.parts.add(number=number)
    message.at.seconds = 1_700_000_000 + number
    return message


def user(number):
    return {"id": number, "name": f"name {number}"}


def produce(bootstrap, topic, serialize, values):
    producer = Producer({"bootstrap.servers": bootstrap})
    failed = []
    for value in values:
        producer.produce(topic, serialize(value, SerializationContext(topic, MessageField.VALUE)), partition=0,
                         on_delivery=lambda error, _: failed.append(error) if error else None)
    producer.flush(30)
    expect(failed, [], f"produced to {topic}")


def consume(bootstrap, topic, deserialize, count):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "registry", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    values = []
    while len(values) < count:
        message = consumer.poll(20)
        if message is None or message.error():
            raise SystemExit(f"{topic}: {message and message.error()} after {len(values)} records")
        values.append(deserialize(message.value(), SerializationContext(topic, MessageField.VALUE)))
    consumer.close()
    return values


def calls(registry):
    """What its client can ask."""
    schema = Schema(USER, "AVRO")
    number = registry.register_schema("calls", schema)
    expect(registry.register_schema("calls", schema), number, "registered again")
    expect(registry.lookup_schema("calls", schema).schema_id, number, "looked up")
    expect(registry.lookup_schema("calls", schema).version, 1, "looked up")
    refused(lambda: registry.register_schema("calls", Schema(WRONG, "AVRO")), 409, 40901, "an incompatible schema")
    refused(lambda: registry.register_schema("calls", Schema("{", "AVRO")), 422, 42201, "no schema")
    refused(lambda: registry.get_version("none", 1), 404, 40401, "no subject")
    refused(lambda: registry.get_version("calls", 9), 404, 40402, "no version")
    refused(lambda: registry.get_schema(9999), 404, 40403, "no schema")
    refused(lambda: registry.get_config("calls"), 404, 40408, "no config")
    expect(registry.test_compatibility("calls", Schema(WRONG, "AVRO")), False, "compatibility")
    expect(registry.test_compatibility("calls", Schema(LATER, "AVRO")), True, "compatibility")
    registry.set_compatibility("calls", "FULL_TRANSITIVE")
    expect(registry.get_compatibility("calls"), "FULL_TRANSITIVE", "its level")
    registry.set_config("calls", ServerConfig(compatibility=ConfigCompatibilityLevel.BACKWARD))
    expect(registry.get_config("calls").compatibility_level, ConfigCompatibilityLevel.BACKWARD, "its config")
    registry.register_schema("calls", Schema(LATER, "AVRO"))
    expect(registry.get_versions("calls"), [1, 2], "versions")
    expect(registry.get_latest_version("calls").version, 2, "the latest version")
    expect("calls" in registry.get_subjects(), True, "subjects")
    nested = Schema('{"type": "record", "name": "test.Team", "fields": [{"name": "head", "type": "test.User"}]}', "AVRO",
                    [SchemaReference("test.User", "calls", 1)])
    team = registry.register_schema("teams", nested)
    expect(registry.get_schema(team).references[0].subject, "calls", "its reference")
    refused(lambda: registry.delete_version("calls", 1), 422, 42206, "a version that is used")
    expect(registry.delete_subject("teams"), [1], "deleted")
    expect(registry.delete_subject("teams", permanent=True), [1], "deleted for good")
    expect(registry.delete_version("calls", 1), 1, "deleted")
    expect(registry.get_versions("calls"), [2], "versions")
    print("confluent-kafka-python: its client's calls")


def main():
    bootstrap, url, action = sys.argv[1:]
    # A client of its own for readers: what it knows it has asked for.
    registry = SchemaRegistryClient({"url": url})
    kind = messages()
    users, wholes = [user(number) for number in range(RECORDS)], [whole(kind, number) for number in range(RECORDS)]
    if action == "write":
        calls(registry)
        produce(bootstrap, "python-avro", AvroSerializer(registry, USER), users)
        produce(bootstrap, "python-json", JSONSerializer(JSON_SCHEMA, registry), users)
        produce(bootstrap, "python-protobuf", ProtobufSerializer(kind, registry), wholes)
        print(f"confluent-kafka-python: {RECORDS} records each with Avro, JSON and Protobuf written")
        subjects = registry.get_subjects()
        expect([subject for subject in subjects if subject.endswith("part.proto")], ["test/part.proto"], "subjects of imports")
    read = consume(bootstrap, "python-avro", AvroDeserializer(registry), RECORDS)
    expect(read, users, "Avro")
    read = consume(bootstrap, "python-avro", AvroDeserializer(registry, LATER), RECORDS)
    expect(read, [{"id": it["id"], "full": it["name"], "age": None} for it in users], "Avro, read as a later version")
    read = consume(bootstrap, "python-json", JSONDeserializer(JSON_SCHEMA, schema_registry_client=registry), RECORDS)
    expect(read, users, "JSON")
    read = consume(bootstrap, "python-protobuf", ProtobufDeserializer(kind, schema_registry_client=registry), RECORDS)
    expect(read, wholes, "Protobuf")
    for topic in ("node-avro", "go-avro"):
        if action == "read":
            read = consume(bootstrap, topic, AvroDeserializer(registry), RECORDS)
            expect(read, users, topic)
    print(f"confluent-kafka-python: {RECORDS} records each read{' again, and those of Node and Go' if action == 'read' else ''}")


main()
