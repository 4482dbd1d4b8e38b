// kafkajs. Consumers of its public interface always join a group; reading goes through the broker object below them, which
// asks, decodes and decompresses in the same way.
import zlib from 'node:zlib'
import { NotOffered, hex, unhex } from './driver.mjs'

const TOPIC = 2
const SECONDS = 1000

// `client` is the package: kafkajs, or kafkajs-1 for its first line.
export async function connect(require, client, bootstrap) {
  const { Kafka, CompressionTypes, CompressionCodecs, Partitioners, logLevel } = require(client)
  const Cluster = require(`${client}/src/cluster`)
  const createLogger = require(`${client}/src/loggers`).createLogger
  const LoggerConsole = require(`${client}/src/loggers/console`)
  const socketFactory = require(`${client}/src/network/socketFactory`)
  const { lz4Compress, lz4Decompress } = require('@platformatic/wasm-utils')
  CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: async (encoder) => lz4Compress(encoder.buffer),
    decompress: async (buffer) => lz4Decompress(buffer)
  })
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async (encoder) => zlib.zstdCompressSync(encoder.buffer),
    decompress: async (buffer) => zlib.zstdDecompressSync(buffer)
  })
  const codecs = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy, lz4: CompressionTypes.LZ4, zstd: CompressionTypes.ZSTD }

  const partitioners = {
    default: Partitioners.DefaultPartitioner, legacy: Partitioners.LegacyPartitioner, 'java-compatible': Partitioners.JavaCompatiblePartitioner
  }

  const kafka = new Kafka({ clientId: 'interop', brokers: [bootstrap], logLevel: logLevel.ERROR })
  const admin = kafka.admin()
  const members = new Map()
  await admin.connect()

  const fetchAll = async (topic, ends) => {
    const cluster = new Cluster({
      logger: createLogger({ level: logLevel.ERROR, logCreator: LoggerConsole }), socketFactory: socketFactory(), brokers: [bootstrap],
      clientId: 'interop', connectionTimeout: 10 * SECONDS, authenticationTimeout: 10 * SECONDS, metadataMaxAge: 60 * SECONDS,
      enforceRequestTimeout: true, requestTimeout: 30 * SECONDS, retry: {}, allowAutoTopicCreation: false, maxInFlightRequests: null
    })
    await cluster.connect()
    await cluster.addTargetTopic(topic)
    const at = new Map(Object.entries(ends).filter(([, end]) => end > 0).map(([partition]) => [Number(partition), 0]))
    const found = []
    for (const until = Date.now() + 30 * SECONDS; at.size > 0 && Date.now() < until;) {
      const leaders = cluster.findLeaderForPartitions(topic, [...at.keys()])
      for (const [nodeId, partitions] of Object.entries(leaders)) {
        const broker = await cluster.findBroker({ nodeId })
        const wanted = partitions.map((partition) => ({ partition, fetchOffset: at.get(partition).toString(), maxBytes: 1 << 20 }))
        const { responses } = await broker.fetch({ replicaId: -1, isolationLevel: 0, maxWaitTime: 500, topics: [{ topic, partitions: wanted }] })
        for (const { partition, messages } of responses.flatMap((response) => response.partitions)) {
          for (const message of messages) {
            const offset = Number(message.offset)
            if (!at.has(partition) || offset < at.get(partition)) continue
            found.push({
              partition, offset, timestamp: Number(message.timestamp), key: hex(message.key), value: hex(message.value),
              headers: Object.entries(message.headers).flatMap(([header, value]) => [value].flat().map((one) => [header, hex(one)]))
            })
            at.set(partition, offset + 1)
            if (offset + 1 >= ends[partition]) at.delete(partition)
          }
        }
      }
    }
    await cluster.disconnect()
    return found
  }


  return {
    hello: () => ({
      version: require(`${client}/package.json`).version,
      lacks: {
        'group-consumer': 'knows the classic protocol only',
        'group-static': 'has no group.instance.id',
        'null-header': 'the producer throws a TypeError for a null header',
        'duplicate-headers': 'headers are an object, so equal names stand together',
        'reads-header-order': 'headers are an object, so equal names stand together',
        'offset-none': 'gives the end of the partition if no record is that late'
      }
    }),

    create: async ({ topic, partitions, configs }) => {
      // Waiting for leaders fails at once if a KRaft broker has not heard of the new topic; the suite waits by itself.
      await admin.createTopics({
        waitForLeaders: false,
        topics: [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries: Object.entries(configs).map(([name, value]) => ({ name, value })) }]
      })
    },

    produce: async ({ topic, acks, compression, idempotent, records, partitioner = 'default' }) => {
      const createPartitioner = partitioners[partitioner]
      if (!createPartitioner) throw new NotOffered(`no partitioner ${partitioner}`)
      const producer = kafka.producer({ idempotent, createPartitioner, allowAutoTopicCreation: false })
      await producer.connect()
      const messages = records.map((record) => ({
        partition: record.partition ?? undefined, key: unhex(record.key), value: unhex(record.value),
        timestamp: record.timestamp.toString(), headers: Object.fromEntries(record.headers.map(([header, value]) => [header, unhex(value)]))
      }))
      const answers = await producer.send({ topic, acks, compression: codecs[compression], messages })
      await producer.disconnect()
      if (records[0].partition === null) return records.map(() => null)
      // One batch for each partition, of which the first offset is told.
      return records.map((_, at) => ({ partition: answers[0].partition, offset: Number(answers[0].baseOffset) + at }))
    },

    read: ({ topic, ends }) => fetchAll(topic, ends),

    offset: async ({ topic, partition, at }) => {
      if (at === 'max') throw new NotOffered('no call for the largest timestamp')
      const found = at === 'earliest' || at === 'latest' ? await admin.fetchTopicOffsets(topic) : await admin.fetchTopicOffsetsByTimestamp(topic, at)
      const one = found.find((entry) => entry.partition === partition)
      return { offset: Number(at === 'earliest' ? one.low : at === 'latest' ? one.high : one.offset) }
    },

    describe: async ({ topic }) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
      return { partitions: topics[0].partitions.map((one) => ({ partition: one.partitionId, leader: one.leader, replicas: one.replicas, isr: one.isr })) }
    },

    configs: async ({ topic }) => {
      const { resources } = await admin.describeConfigs({ resources: [{ type: TOPIC, name: topic }], includeSynonyms: false })
      return Object.fromEntries(resources[0].configEntries.map((entry) => [entry.configName, entry.configValue]))
    },

    alter: async ({ topic, name, value }) => {
      await admin.alterConfigs({ resources: [{ type: TOPIC, name: topic, configEntries: [{ name, value }] }] })
    },

    grow: async ({ topic, partitions }) => {
      await admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] })
    },

    delete_records: async ({ topic, partition, before }) => {
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: before.toString() }] })
    },

    enter: async ({ member, group, topic }) => {
      const consumer = kafka.consumer({ groupId: group, sessionTimeout: 10 * SECONDS, heartbeatInterval: 500, maxWaitTimeInMs: 100 })
      const state = { consumer, topic, records: [], consumed: new Map(), assigned: [] }
      consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => { state.assigned = payload.memberAssignment[topic] ?? [] })
      await consumer.connect()
      await consumer.subscribe({ topic, fromBeginning: true })
      await consumer.run({
        autoCommit: false,
        eachMessage: async ({ partition, message }) => {
          state.records.push([partition, Number(message.offset)])
          state.consumed.set(partition, Number(message.offset) + 1)
        }
      })
      members.set(member, state)
    },

    poll: async ({ member, seconds }) => {
      await new Promise((resolve) => setTimeout(resolve, seconds * SECONDS))
      const state = members.get(member)
      return { records: state.records.splice(0), assigned: [...state.assigned].sort((a, b) => a - b) }
    },

    commit: async ({ member }) => {
      const { consumer, topic, consumed, assigned } = members.get(member)
      const own = [...consumed].filter(([partition]) => assigned.includes(partition))
      await consumer.commitOffsets(own.map(([partition, offset]) => ({ topic, partition, offset: String(offset) })))
    },

    exit: async ({ member }) => {
      await members.get(member).consumer.disconnect()
      members.delete(member)
    },

    delete: async ({ topic }) => {
      await admin.deleteTopics({ topics: [topic] })
    }
  }
}
