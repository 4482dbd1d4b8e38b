import { pathToFileURL } from 'node:url'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export async function runsOf(require, name) {
  const entry = require.resolve(name)
  const library = await import(pathToFileURL(entry))
  // The package exports nothing but its entry point.
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8'))
  const run = (profile, partitioner, options) => ({
    profile,
    client: '@platformatic/kafka',
    version,
    partitioner,
    how: 'npm package; Producer.send of one message per placement, with metadata of n partitions put in its place and no broker; read where the producer looks up the leader; keys are Buffers, the null key is null',
    hash: library.murmur2,
    fresh: () => placeBySending(library.Producer, options)
  })
  return [
    run('platformatic/default', 'no partitioner option', {}),
    run('platformatic/compatibility', 'compatibilityPartitioner', { partitioner: library.compatibilityPartitioner })
  ]
}

// The producer's own send decides whether the partitioner is asked at all, and
// reduces what it returns to the topic's count, so the whole of send is run up
// to the look-up of the partition's leader.
function placeBySending(Producer, options) {
  const producer = new Producer({ clientId: 'vectors', bootstrapBrokers: ['localhost:9092'], ...options })
  const askForMetadata = symbolOf(producer, 'plt.kafka.base.metadata')
  let placed
  let metadata
  producer[askForMetadata] = (_, answer) => {
    try {
      answer(null, metadata)
    } catch (error) {
      if (error !== found) throw error
    }
  }
  return (key, count) => {
    let failure
    placed = undefined
    const partitions = new Proxy([], {
      get(_, index) {
        placed = Number(index)
        throw found
      }
    })
    metadata = { topics: new Map([['topic', { partitionsCount: count, partitions }]]) }
    producer.send({ messages: [{ topic: 'topic', key, value: Buffer.from('value') }] }, (error) => {
      failure = error
    })
    if (failure) throw failure
    return placed
  }
}

const found = new Error('the producer has chosen a partition')

function symbolOf(object, description) {
  for (let owner = object; owner; owner = Object.getPrototypeOf(owner)) {
    const symbol = Object.getOwnPropertySymbols(owner).find((one) => one.description === description)
    if (symbol) return symbol
  }
  throw new Error(`the producer has no ${description}: it is another version than this was written for`)
}
