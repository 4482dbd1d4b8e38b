export function runs(require) {
  return [
    ...versionRuns(require, 'kafkajs-2', {
      DefaultPartitioner: ['kafkajs/default', 'default'],
      JavaCompatiblePartitioner: ['kafkajs/default', 'default'],
      LegacyPartitioner: ['kafkajs/legacy', 'legacy']
    }),
    // Version 2 renamed both: its default is what 1 had called Java-compatible.
    ...versionRuns(require, 'kafkajs-1', {
      DefaultPartitioner: ['kafkajs/legacy', 'default'],
      JavaCompatiblePartitioner: ['kafkajs/default', 'defaultJava']
    })
  ]
}

function versionRuns(require, name, partitioners) {
  const { Partitioners } = require(name)
  const { version } = require(`${name}/package.json`)
  return Object.entries(partitioners).map(([partitioner, [profile, folder]]) => ({
    profile,
    client: 'kafkajs',
    version,
    partitioner,
    how: 'npm package; the partitioner called as the producer does, with each key as a Buffer and n partitions that have leaders; the null key is null',
    hash: require(`${name}/src/producer/partitioners/${folder}/murmur2`),
    fresh: () => {
      const place = Partitioners[partitioner]()
      return (key, partitions) =>
        place({ topic: 'topic', partitionMetadata: metadata(partitions), message: { key, value: 'value' } })
    }
  }))
}

const metadataByCount = new Map()

function metadata(partitions) {
  if (!metadataByCount.has(partitions)) {
    const list = Array.from({ length: partitions }, (_, partitionId) => ({
      partitionId,
      leader: 1,
      partitionErrorCode: 0,
      replicas: [1],
      isr: [1]
    }))
    metadataByCount.set(partitions, rememberFilters(list))
  }
  return metadataByCount.get(partitions)
}

// The partitioner filters the list for available partitions at every call. The
// list never changes, so each condition is really evaluated once: 65,536
// partitions a call would take most of the time.
function rememberFilters(list) {
  const results = new Map()
  list.filter = (condition) => {
    const text = String(condition)
    if (!results.has(text)) {
      results.set(text, Array.prototype.filter.call(list, condition))
    }
    return results.get(text)
  }
  return list
}
