// KafkaJS with its registry's client for Avro (avsc), Protobuf (protobufjs) and JSON (ajv).
//
// usage: node peer.cjs produce|consume BOOTSTRAP REGISTRY avro|protobuf|json TOPIC COUNT
//
// `produce` writes orders of the first version of the schema; `consume` reads them as orders of the second, and prints each
// as a line of JSON. The registry's client neither writes nor skips Protobuf's message indexes (its issue 248): what it writes
// is read by telling the reader so, and what others write is read here with protobufjs behind the index.

const fs = require('node:fs')
const path = require('node:path')
const { Kafka, logLevel } = require('kafkajs')
const { SchemaRegistry, SchemaType } = require('@kafkajs/confluent-schema-registry')
const avro = require('avsc')
const protobuf = require('protobufjs')

const text = name => fs.readFileSync(path.join(__dirname, 'schemas', name), 'utf8')

const order = number => ({
  id: number * 1000003 - 5,
  customer: `Żaneta ${number}`,
  note: number % 2 ? `note ${number}` : null,
  price: number * 0.25,
  tags: Array.from({ length: number % 3 }, (_, tag) => `tag-${tag}`),
})

const FORMATS = {
  avro: { type: SchemaType.AVRO, schema: 'order-1.avsc' },
  protobuf: { type: SchemaType.PROTOBUF, schema: 'order-1.proto' },
  json: { type: SchemaType.JSON, schema: 'order-1.json' },
}

async function writer(registry, format, topic) {
  const { type, schema } = FORMATS[format]
  const { id } = await registry.register({ type, schema: text(schema) }, { subject: `${topic}-value` })
  return number => {
    const value = order(number)
    if (format === 'protobuf' && value.note === null) delete value.note
    return registry.encode(id, value)
  }
}

function reader(registry, format) {
  if (format === 'avro') {
    // avsc resolves fields by their aliases when it is told the reader's schema.
    const readerSchema = avro.Type.forSchema(JSON.parse(text('order-2.avsc')))
    return async value => {
      const found = await registry.decode(value, { [SchemaType.AVRO]: { readerSchema } })
      return { ...found }
    }
  }
  if (format === 'json') {
    return async value => {
      const { customer, ...found } = await registry.decode(value)
      return { note: null, rating: 7, buyer: customer, ...found }
    }
  }
  const type = protobuf.parse(text('order-2.proto'), { keepCase: true }).root.lookupType('shop.Order')
  return async value => {
    if (value[0] !== 0 || value[5] !== 0) throw new Error(`not the first message of a schema: ${value.toString('hex')}`)
    const found = type.toObject(type.decode(value.subarray(6)), { longs: Number, defaults: true, arrays: true })
    return { ...found, note: found.note || null }
  }
}

async function main() {
  const [mode, bootstrap, host, format, topic, count] = process.argv.slice(2)
  const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR })
  const registry = new SchemaRegistry({ host })
  if (mode === 'produce') {
    const write = await writer(registry, format, topic)
    const producer = kafka.producer()
    await producer.connect()
    for (let number = 0; number < Number(count); number++) {
      const key = Buffer.alloc(8)
      key.writeBigInt64BE(BigInt(number))
      await producer.send({ topic, messages: [{ key, value: await write(number) }] })
    }
    await producer.disconnect()
    return
  }
  const read = reader(registry, format)
  const consumer = kafka.consumer({ groupId: `node-${topic}` })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  let seen = 0
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
    consumer.run({
      eachMessage: async ({ message }) => {
        const found = await read(message.value)
        const { id, buyer, note, price, tags, rating } = found
        const key = Number(message.key.readBigInt64BE())
        console.log(JSON.stringify({ key, id, buyer, note, price, tags, rating }))
        seen += 1
        if (seen === Number(count)) resolve()
      },
    })
  })
  await consumer.disconnect()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
