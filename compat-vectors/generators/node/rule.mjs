// Places a key several times at every count and says whether the client pins
// it, leaves it open or rejects it.

// Asked of one instance: this shows round-robin and random placements.
const IN_A_ROW = 3
// Asked once each: this shows sticky placements, which one instance repeats.
const FRESH_INSTANCES = 3
// So many that placements made at random can't be equal by chance. Always
// tried, whatever counts were asked for.
const PROBE_COUNT = 65536

/**
 * @param {() => (key: Buffer | null, partitions: number) => number} fresh makes an instance as a new producer would
 * @param {Buffer | null} key
 * @param {number[]} counts
 * @returns {{partitions: number[]} | {outcome: 'unpinned' | 'rejected', detail: string}}
 */
export function judge(fresh, key, counts) {
  const tried = counts.includes(PROBE_COUNT) ? counts : [...counts, PROBE_COUNT]
  const byCount = new Map(tried.map((count) => [count, sample(fresh, key, count)]))
  const all = [...byCount.values()].flat()
  const refused = all.filter((one) => typeof one === 'string')
  if (refused.length > 0 && refused.length < all.length) {
    throw new Error(`refused at some counts or times only: ${refused[0]}`)
  }
  if (refused.length > 0) {
    return { outcome: 'rejected', detail: refused[0] }
  }
  const unstable = tried.filter((count) => byCount.get(count).some((one) => one !== byCount.get(count)[0]))
  if (unstable.length === 0) {
    return { partitions: counts.map((count) => byCount.get(count)[0]) }
  }
  if (!unstable.includes(PROBE_COUNT)) {
    throw new Error(`placements differ at ${unstable} partitions but not at ${PROBE_COUNT}: neither pinned nor random`)
  }
  return { outcome: 'unpinned', detail: describe(byCount.get(PROBE_COUNT)) }
}

function sample(fresh, key, count) {
  const one = fresh()
  const outcomes = []
  for (let i = 0; i < IN_A_ROW; i++) {
    outcomes.push(attempt(one, key, count))
  }
  for (let i = 0; i < FRESH_INSTANCES; i++) {
    outcomes.push(attempt(fresh(), key, count))
  }
  for (const partition of outcomes) {
    if (typeof partition !== 'string' && !(Number.isInteger(partition) && partition >= 0 && partition < count)) {
      throw new Error(`partition ${partition} of ${count}: out of range`)
    }
  }
  return outcomes
}

// A refusal becomes its message.
function attempt(place, key, count) {
  try {
    return place(key, count)
  } catch (error) {
    return `${error.name}: ${error.message}`
  }
}

function describe(outcomes) {
  const row = outcomes.slice(0, IN_A_ROW)
  const fresh = outcomes.slice(IN_A_ROW)
  if (row.every((one) => one === row[0])) {
    return 'same on one instance, differs between fresh instances'
  }
  if (fresh.every((one) => one === row[0])) {
    return 'differs call by call, in the same way on every fresh instance'
  }
  return 'differs call by call and between fresh instances'
}
