import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from './rule.mjs'

const key = Buffer.from('key')
const random = (_, partitions) => Math.floor(Math.random() * partitions)
const roundRobin = () => {
  let next = 0
  return (_, partitions) => next++ % partitions
}
const sticky = () => {
  let chosen
  return (_, partitions) => (chosen ??= random(key, partitions))
}
const always = (place) => () => place

test('a function of the key is pinned at the counts asked for', () => {
  assert.deepEqual(judge(always((_, partitions) => 7 % partitions), key, [1, 5, 12]), { partitions: [0, 2, 7] })
})

test('every kind of open placement is unpinned, even among one partition', () => {
  const kinds = [
    [roundRobin, /in the same way on every fresh instance/],
    [sticky, /same on one instance/],
    [always(random), /call by call and between fresh instances/]
  ]
  for (const [fresh, detail] of kinds) {
    for (const counts of [[1], [1, 2], [12], [65536]]) {
      const verdict = judge(fresh, key, counts)
      assert.equal(verdict.outcome, 'unpinned')
      assert.match(verdict.detail, detail)
    }
  }
})

test('an exception is a rejection', () => {
  const refuse = () => {
    throw new TypeError('no key')
  }
  assert.deepEqual(judge(always(refuse), key, [12]), { outcome: 'rejected', detail: 'TypeError: no key' })
})

test('what is neither pinned nor open fails the run', () => {
  const refusesFive = (_, partitions) => {
    if (partitions === 5) throw new Error('not five')
    return 0
  }
  let next = 0
  const openAtFive = (_, partitions) => (partitions === 5 ? next++ % 5 : 0)
  assert.throws(() => judge(always((_, partitions) => partitions), key, [5, 12]), /out of range/)
  assert.throws(() => judge(always(() => -1), key, [5, 12]), /out of range/)
  assert.throws(() => judge(always(() => NaN), key, [5, 12]), /out of range/)
  assert.throws(() => judge(always(refusesFive), key, [5, 12]), /at some counts/)
  assert.throws(() => judge(always(openAtFive), key, [5, 12]), /neither pinned nor random/)
})
