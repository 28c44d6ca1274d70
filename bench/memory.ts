import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { machine, residentMib } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { startServer } from './support/processes.ts'

/**
 * npm run bench -- memory [--rest SECONDS --rounds N --main FILE]
 *
 * Resident memory of the service after a start, after ordinary work, after bodies made to take much
 * of it, and after a rest. Several rounds show whether it has a bound. `--main` measures another
 * version of the service.
 */
const options = readOptions({ rest: 60, rounds: 3, main: '../src/main.ts' })

type Body = string | Uint8Array<ArrayBuffer>

const MIB = 2 ** 20
const content = (text: string) => JSON.stringify({ content: text })
const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`key ${n}`, n]))

/** Bodies that take much memory for their size. */
const BOMBS: Readonly<Record<string, readonly [path: string, body: Body]>> = {
  numbers: ['/v1/encode', content(JSON.stringify(Array.from({ length: 1_000_000 }, (_, n) => n)))],
  keys: ['/v1/encode', content(JSON.stringify(keys))],
  'one word': ['/v1/count', content('x'.repeat(8 * MIB))],
  'a gzip bomb': ['/anthropic/v1/messages', new Uint8Array(gzipSync(new Uint8Array(512 * MIB)))],
}

const vendor = await startServer('proxy/upstream-server.ts')
const service = await startServer(options.main, {
  HAVERSACK_PORT: '0',
  HAVERSACK_LOG_LEVEL: 'fatal',
  HAVERSACK_ANTHROPIC_URL: `http://127.0.0.1:${vendor.port}`,
})

/** Sends a body, whatever becomes of it; gives the status. */
async function send(path: string, body: Body): Promise<number> {
  const isZipped = typeof body !== 'string'
  const headers = {
    'content-type': 'application/json',
    ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
  }
  const url = `http://127.0.0.1:${service.port}${path}`
  const answer = await fetch(url, { method: 'POST', body: body, headers })
  await answer.arrayBuffer()
  return answer.status
}

const rows: [string, string][] = []
const note = (when: string) => rows.push([when, residentMib(service.pid).toFixed(0)])

note('started')
const ordinary = content(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, ok: true }))))
for (let n = 0; n < 200; n++) await send('/v1/encode', ordinary)
note('after 200 encodes of 10 KB')
for (let round = 1; round <= options.rounds; round++) {
  for (const [name, [path, body]] of Object.entries(BOMBS)) {
    const statuses = await Promise.all([send(path, body), send(path, body)])
    note(`round ${round}: twice ${name} (${statuses.join(', ')})`)
  }
  await sleep(options.rest * 1000)
  note(`round ${round}: ${options.rest} s later`)
}
await service.stop()
await vendor.stop()
console.log(markdownTable(['', 'resident MiB'], rows))
console.log(`\n${JSON.stringify(machine())}`)
