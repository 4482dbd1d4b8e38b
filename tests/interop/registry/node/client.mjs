// @kafkajs/confluent-schema-registry against a registry: registering, and records of its three languages.
//
// usage: client.mjs BOOTSTRAP URL
//
// Prints a line for each part that holds; fails with the first that does not.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(process.env.MODULES + "/");
const { Kafka, Partitioners, logLevel } = require("kafkajs");
const { SchemaRegistry, SchemaType, COMPATIBILITY } = require("@kafkajs/confluent-schema-registry");

const RECORDS = 50;
const [bootstrap, url] = process.argv.slice(2);
const kafka = new Kafka({ clientId: "registry", brokers: [bootstrap], logLevel: logLevel.ERROR });
const registry = new SchemaRegistry({ host: url });
const user = (number) => ({ id: number, name: `name ${number}` });
const users = Array.from({ length: RECORDS }, (_, number) => user(number));
const plain = (value) => JSON.parse(JSON.stringify(value));

const avro = {
  type: "record",
  name: "User",
  namespace: "test",
  fields: [{ name: "id", type: "long" }, { name: "name", type: "string" }],
};
const json = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "User",
  type: "object",
  properties: { id: { type: "integer" }, name: { type: "string" } },
};
const protobuf = 'syntax = "proto3"; package test; message User { int32 id = 1; string name = 2; }';

async function produce(topic, values) {
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages: values.map((value) => ({ value, partition: 0 })) });
  await producer.disconnect();
}

async function consume(topic, from) {
  const consumer = kafka.consumer({ groupId: `node-${topic}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const values = [];
  await new Promise((done, failed) => {
    setTimeout(() => failed(new Error(`${topic}: ${values.length} records`)), 30000).unref();
    consumer.run({
      eachMessage: async ({ message }) => {
        try {
          values.push(plain(await from.decode(message.value)));
        } catch (error) {
          failed(error);
        }
        if (values.length === RECORDS) done();
      },
    });
  });
  await consumer.disconnect();
  return values;
}

for (const [type, schema, topic] of [
  [SchemaType.AVRO, avro, "node-avro"],
  [SchemaType.JSON, json, "node-json"],
  [SchemaType.PROTOBUF, protobuf, "node-protobuf"],
]) {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  const { id } = await registry.register({ type, schema: text }, { subject: `${topic}-value` });
  const again = await registry.register({ type, schema: text }, { subject: `${topic}-value` });
  assert.equal(again.id, id);
  assert.equal(await registry.getLatestSchemaId(`${topic}-value`), id);
  assert.equal(await registry.getRegistryId(`${topic}-value`, 1), id);
  await produce(topic, await Promise.all(users.map((value) => registry.encode(id, value))));
  // One that has to ask for the schema.
  assert.deepEqual(await consume(topic, new SchemaRegistry({ host: url })), users);
  console.log(`@kafkajs/confluent-schema-registry: ${RECORDS} records with ${type}`);
}
assert.deepEqual(await consume("python-avro", registry), users);
assert.deepEqual(await consume("python-json", registry), users);
console.log("@kafkajs/confluent-schema-registry: the records of Python");

const wrong = { ...avro, fields: [{ name: "id", type: "string" }] };
await assert.rejects(
  registry.register({ type: SchemaType.AVRO, schema: JSON.stringify(wrong) }, { subject: "node-avro-value" }),
  /incompatible/,
);
await registry.register(
  { type: SchemaType.AVRO, schema: JSON.stringify(avro) },
  { subject: "node-full", compatibility: COMPATIBILITY.FULL },
);
await assert.rejects(
  registry.register({ type: SchemaType.AVRO, schema: JSON.stringify(avro) }, { subject: "node-full", compatibility: COMPATIBILITY.NONE }),
  /compatibility/i,
);
console.log("@kafkajs/confluent-schema-registry: what it is refused");
