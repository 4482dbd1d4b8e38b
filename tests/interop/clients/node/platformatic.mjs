// @platformatic/kafka, 1 and 2. Its streams always join a group; Consumer.fetch is its public call for reading without one.
import { dirname, join } from 'node:path'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { hex, unhex } from './driver.mjs'

const TOPIC = 2
const SET = 0
const SPECIAL = { earliest: -2n, latest: -1n, max: -3n }

export async function connect(require, name, bootstrap) {
  const entry = require.resolve(name)
  const { Admin, Consumer, Producer } = await import(pathToFileURL(entry))
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8'))
  const options = { clientId: 'interop', bootstrapBrokers: [bootstrap], autocreateTopics: false }
  const admin = new Admin(options)
  const members = new Map()
  const consumer = new Consumer({ ...options, groupId: 'interop-unused' })
  const zstd = typeof (await import('node:zlib')).default.zstdCompressSync === 'function'
  const noZstd = `uses zstd of Node's zlib, which Node ${process.versions.node} does not have`

  const metadata = async (topic) => {
    const cluster = await consumer.metadata({ topics: [topic], forceUpdate: true })
    return cluster.topics.get(topic)
  }

  const lacks = { 'group-static': 'leaves the group when it closes, also with a group.instance.id' }
  if (!zstd) lacks.zstd = noZstd
  if (version.startsWith('1.')) lacks['reads-foreign-snappy'] = 'release 1 cannot decompress the framing that Java puts around snappy'

  return {
    hello: () => ({ version: `${version} on Node ${process.versions.node}`, lacks }),

    create: async ({ topic, partitions, configs }) => {
      await admin.createTopics({ topics: [topic], partitions, replicas: 1, configs: Object.entries(configs).map(([name, value]) => ({ name, value })) })
    },

    produce: async ({ topic, acks, compression, idempotent, records }) => {
      const producer = new Producer({ ...options, idempotent })
      const messages = records.map((record) => ({
        topic, partition: record.partition ?? undefined, key: unhex(record.key) ?? undefined, value: unhex(record.value) ?? undefined,
        timestamp: BigInt(record.timestamp), headers: new Map(record.headers.map(([header, value]) => [Buffer.from(header), unhex(value)]))
      }))
      const { offsets } = await producer.send({ messages, acks, compression })
      await producer.close()
      if (records[0].partition === null) return records.map(() => null)
      // One batch for each partition, of which the first offset is told.
      return records.map((_, at) => ({ partition: offsets[0].partition, offset: Number(offsets[0].offset) + at }))
    },

    read: async ({ topic, ends }) => {
      const found = []
      for (const [partition, end] of Object.entries(ends).map(([partition, end]) => [Number(partition), end])) {
        for (let at = 0, until = Date.now() + 30_000; at < end && Date.now() < until;) {
          const { id, partitions } = await metadata(topic)
          const wanted = { partition, currentLeaderEpoch: -1, fetchOffset: BigInt(at), lastFetchedEpoch: -1, partitionMaxBytes: 1 << 20 }
          const { responses } = await consumer.fetch({ node: partitions[partition].leader, maxWaitTime: 500, minBytes: 1, topics: [{ topicId: id, partitions: [wanted] }] })
          for (const batch of responses.flatMap((response) => response.partitions).flatMap((one) => one.records ?? [])) {
            for (const record of batch.records) {
              const offset = Number(batch.firstOffset) + record.offsetDelta
              if (offset < at) continue
              found.push({
                partition, offset, timestamp: batch.firstTimestamp + record.timestampDelta, key: hex(record.key), value: hex(record.value),
                headers: record.headers.map(([header, value]) => [header.toString(), hex(value)])
              })
              at = offset + 1
            }
          }
        }
      }
      return found
    },

    offset: async ({ topic, partition, at }) => {
      const [found] = await admin.listOffsets({ topics: [{ name: topic, partitions: [{ partitionIndex: partition, timestamp: SPECIAL[at] ?? BigInt(at) }] }] })
      const { offset, timestamp } = found.partitions[0]
      return { offset, timestamp }
    },

    describe: async ({ topic }) => {
      const { partitions } = await metadata(topic)
      return { partitions: partitions.map((one, partition) => ({ partition, leader: one.leader, replicas: one.replicas, isr: one.isr })) }
    },

    configs: async ({ topic }) => {
      const [{ configs }] = await admin.describeConfigs({ resources: [{ resourceType: TOPIC, resourceName: topic }] })
      return Object.fromEntries(configs.map((entry) => [entry.name, entry.value]))
    },

    alter: async ({ topic, name, value }) => {
      await admin.incrementalAlterConfigs({ resources: [{ resourceType: TOPIC, resourceName: topic, configs: [{ name, value, configOperation: SET }] }] })
    },

    grow: async ({ topic, partitions }) => {
      await admin.createPartitions({ topics: [{ name: topic, count: partitions }] })
    },

    delete_records: async ({ topic, partition, before }) => {
      const [found] = await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition, offset: BigInt(before) }] }] })
      return { low_watermark: found.partitions[0].lowWatermark }
    },

    enter: async ({ member, group, topic, protocol, instance }) => {
      const common = { ...options, groupId: group, ...(instance ? { groupInstanceId: instance } : {}) }
      const of = new Consumer(protocol === 'consumer'
        ? { ...common, groupProtocol: 'consumer' }
        : { ...common, sessionTimeout: 10_000, heartbeatInterval: 500, rebalanceTimeout: 10_000 })
      const state = { consumer: of, topic, records: [], consumed: new Map(), failure: null }
      members.set(member, state)
      // Joining waits for the other members, whose turn may have to come first.
      state.started = of.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest', autocommit: false, maxWaitTime: 100 }).then((stream) => {
        state.stream = stream
        stream.on('error', (error) => { state.failure = error })
        stream.on('data', ({ partition, offset }) => {
          state.records.push([partition, Number(offset)])
          state.consumed.set(partition, offset)
        })
      }, (error) => { state.failure = error })
    },

    poll: async ({ member, seconds }) => {
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      const state = members.get(member)
      if (state.failure) throw state.failure
      const assigned = (state.consumer.assignments ?? []).filter(({ topic }) => topic === state.topic).flatMap(({ partitions }) => partitions)
      return { records: state.records.splice(0), assigned: [...assigned].sort((a, b) => a - b) }
    },

    commit: async ({ member }) => {
      const { consumer: of, topic, consumed } = members.get(member)
      const own = (of.assignments ?? []).flatMap(({ partitions }) => partitions)
      const offsets = [...consumed].filter(([partition]) => own.includes(partition))
      await of.commit({ offsets: offsets.map(([partition, offset]) => ({ topic, partition, offset: offset + 1n, leaderEpoch: 0 })) })
    },

    exit: async ({ member }) => {
      const state = members.get(member)
      members.delete(member)
      await state.stream?.close()
      await state.consumer.close(true)
    },

    delete: async ({ topic }) => {
      await admin.deleteTopics({ topics: [topic] })
    }
  }
}
