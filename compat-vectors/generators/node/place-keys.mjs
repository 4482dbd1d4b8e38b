// place-keys.mjs PACKAGES_DIR KEYS_JSONL COUNTS OUT_DIR CLIENT...
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { judge } from './rule.mjs'

const [packages, keysFile, countList, out, ...clients] = process.argv.slice(2)
if (clients.length === 0) {
  console.error('usage: place-keys.mjs PACKAGES_DIR KEYS_JSONL COUNTS OUT_DIR CLIENT...')
  process.exit(2)
}
const counts = countList.split(',').map(Number)
if (!counts.every((count) => Number.isInteger(count) && count > 0)) {
  throw new Error(`partition counts "${countList}": not all are positive numbers`)
}
const keys = readFileSync(keysFile, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line))
if (keys.length === 0) {
  throw new Error(`${keysFile}: no keys`)
}

// The packages lie in the work directory, where an import from here would not
// look.
const fromPackages = createRequire(join(resolve(packages), 'package.json'))

for (const client of clients) {
  const { runs } = await import(`./clients/${client}.mjs`)
  for (const run of await runs(fromPackages)) {
    place(run)
  }
}

function place({ profile, client, version, partitioner, how, fresh, hash }) {
  const rows = keys.map(({ id, key_hex }) => {
    const key = key_hex === null ? null : Buffer.from(key_hex, 'hex')
    let verdict
    try {
      verdict = judge(fresh, key, counts)
    } catch (error) {
      throw new Error(`${client} ${version} ${partitioner}: key ${id}: ${error.message}`, { cause: error })
    }
    const { partitions = null, ...open } = verdict
    // Object keys that look like numbers come out in ascending order, so the
    // line is put together here: counts keep the order they were asked for in.
    const placed = partitions && counts.map((count, i) => `"${count}":${partitions[i]}`).join(',')
    const hashed = key !== null && partitions !== null && hash ? { hash: hash(key) } : {}
    const head = JSON.stringify({ id, key_hex, ...hashed }).slice(0, -1)
    const tail = Object.entries(open).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('')
    return `${head},"partitions":${placed === null ? 'null' : `{${placed}}`}${tail}}\n`
  })
  const file = `${profile.replace('/', '__')}--${client}-${version}--${partitioner}`.replace(/[^A-Za-z0-9._-]+/g, '-') + '.jsonl'
  writeFileSync(join(out, file), rows.join(''))
  appendFileSync(join(out, 'runs.jsonl'), JSON.stringify({ file, profile, client, version, partitioner, how }) + '\n')
}
