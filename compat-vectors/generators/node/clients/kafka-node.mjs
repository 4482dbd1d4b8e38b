import { EventEmitter } from 'node:events'

export function runs(require) {
  const { Producer } = require('kafka-node')
  const { version } = require('kafka-node/package.json')
  const { KeyedPartitioner } = require('kafka-node/lib/partitioner')
  const run = (profile, partitioner, options, keyFrom) => ({
    profile,
    client: 'kafka-node',
    version,
    partitioner,
    how: "npm package; getPartition of a Producer's partitioner called with each key and the ids of all partitions; the null key is null",
    fresh: () => {
      // A client that never becomes ready: the producer only chooses its
      // partitioner.
      const producer = new Producer(Object.assign(new EventEmitter(), { ready: false }), options)
      return (key, partitions) => producer.partitioner.getPartition(ids(partitions), keyFrom(key))
    }
  })
  const keyed = { partitionerType: Producer.PARTITIONER_TYPES.keyed }
  const asBuffer = (key) => key
  const asString = (key) => key && key.toString()
  const hash = (key) => new KeyedPartitioner().hashCode(key)
  return [
    run('kafka-node/default', 'DefaultPartitioner(type 0)', undefined, asBuffer),
    { ...run('kafka-node/keyed', 'KeyedPartitioner(Buffer)', keyed, asBuffer), hash },
    { ...run('kafka-node/keyed', 'KeyedPartitioner(string)', keyed, asString), hash }
  ]
}

const idsByCount = new Map()

function ids(partitions) {
  if (!idsByCount.has(partitions)) {
    idsByCount.set(partitions, Array.from({ length: partitions }, (_, id) => id))
  }
  return idsByCount.get(partitions)
}
