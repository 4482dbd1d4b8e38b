// Produces records as a service with nothing configured does: produce.cjs PACKAGE BOOTSTRAP TOPIC RECORDS
"use strict";
const [name, bootstrap, topic, records] = process.argv.slice(2);
const { Kafka, logLevel } = require(name);

async function main() {
  const kafka = new Kafka({ clientId: "orders", brokers: [bootstrap], logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  const messages = Array.from({ length: Number(records) }, (_, i) => ({ key: `order-${i}`, value: "v" }));
  await producer.send({ topic, messages });
  await producer.disconnect();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
