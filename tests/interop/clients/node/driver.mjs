// Does with a Node client what each line of the input asks for: driver.mjs CLIENT MODULES BOOTSTRAP. See ../README.md.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [name, modules, bootstrap] = process.argv.slice(2)
const require = createRequire(join(modules, 'package.json'))
const file = name.startsWith('platformatic') ? './platformatic.mjs' : './kafkajs.mjs'
// So that a client that prints cannot disturb the answers.
const answer = (result) => process.stdout.write(JSON.stringify(result, (_, value) => typeof value === 'bigint' ? Number(value) : value) + '\n')
console.log = console.info = console.error

export class NotOffered extends Error {}
export const unhex = (text) => text === null ? null : Buffer.from(text, 'hex')
export const hex = (data) => data === null || data === undefined ? null : Buffer.from(data).toString('hex')

// An error that says why an error says nothing: the clients nest them.
function reason(error) {
  const inner = error.errors?.length ? ` (${error.errors.map(reason).join('; ')})` : error.cause ? ` (${reason(error.cause)})` : ''
  return `${error.name}: ${error.message}${inner}`
}

async function main() {
  const { connect } = await import(file)
  const client = await connect(require, name, bootstrap)
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    try {
      answer({ ok: (await client[request.op](request)) ?? null })
    } catch (error) {
      answer(error instanceof NotOffered ? { not_offered: error.message } : { error: reason(error) })
    }
  }
  process.exit(0)
}

// The clients' modules import this one, so it must be whole before they are.
queueMicrotask(() => main().catch((error) => {
  console.error(error)
  process.exit(2)
}))
