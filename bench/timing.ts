import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom, median } from '../src/lab/bill/statistics.ts'
import { keyFor, writeKeysFile } from '../test/support/keys.ts'
import { agent, timedCall } from './support/http-client.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { startServer } from './support/processes.ts'
import { base64Content, conversation, rowsContent } from './timing/bodies.ts'
import { signTest } from './trial/statistics.ts'

/**
 * npm run bench -- timing [--pairs N --only TEXT --main FILE]
 *
 * Whether a tenant can see by the time what another one has sent. In each pair one tenant sends a
 * body. Then another one sends, in random order, the same and two that nobody has sent, one of which
 * is the control. One worker thread, so that both tenants meet in it. `--only` takes the bodies
 * whose names have this text; `--main` measures another version of the service.
 */
const options = readOptions({ pairs: 200, main: '../src/main.ts', only: '' })
const { pairs } = options

const ENCODE = '/v1/encode'
const PROXY = '/anthropic/v1/messages'

/** What is sent, to where; another body for each seed. */
interface Case {
  readonly name: string
  readonly path: string
  make(seed: number): string
}

const CASES: readonly Case[] = [
  { name: 'encode, base64 of 4 KB', path: ENCODE, make: seed => base64Content(seed, 4_000) },
  { name: 'encode, base64 of 16 KB', path: ENCODE, make: seed => base64Content(seed, 16_000) },
  { name: 'encode, rows of 64 KB', path: ENCODE, make: seed => rowsContent(seed, 64_000) },
  { name: 'proxy, 66 KB', path: PROXY, make: seed => conversation(seed, 66_000) },
  { name: 'proxy, 661 KB', path: PROXY, make: seed => conversation(seed, 661_000) },
]

const folder = mkdtempSync(join(tmpdir(), 'haversack-timing-'))
const keysFile = join(folder, 'keys.json')
const keys = ['sender', 'prober'].map(tenant => keyFor(tenant, { scopes: ['encode', 'proxy'] }))
writeKeysFile(keysFile, ...keys)
const vendor = await startServer('proxy/upstream-server.ts')
const service = await startServer(options.main, {
  HAVERSACK_WORKERS: '1',
  HAVERSACK_KEYS_FILE: keysFile,
  HAVERSACK_ANTHROPIC_URL: vendor.url,
})

/** Milliseconds until the answer is there. */
async function send(tenant: number, path: string, body: string): Promise<number> {
  const { key } = keys[tenant]!
  return timedCall(service.url + path, body, { 'x-haversack-key': key, 'x-api-key': key })
}

const random = createRandom(7)
let seeds = 1
/** Pairs that are not counted. */
const WARM_UP = 10

/**
 * Differences of time in milliseconds, one a pair: of a body that nobody has sent, less that of
 * another.
 */
interface Differences {
  readonly same: number[]
  readonly control: number[]
}

async function differences({ path, make }: Case): Promise<Differences> {
  const found: Differences = { same: [], control: [] }
  for (let pair = -WARM_UP; pair < pairs; pair++) {
    const [same, control, unsent] = [make(seeds++), make(seeds++), make(seeds++)]
    const bodies = { same, control, unsent }
    await send(0, path, same)
    const took = { same: 0, control: 0, unsent: 0 }
    for (const name of inRandomOrder(['same', 'control', 'unsent'] as const)) {
      took[name] = await send(1, path, bodies[name])
    }
    if (pair < 0) continue
    found.same.push(took.unsent - took.same)
    found.control.push(took.unsent - took.control)
  }
  return found
}

function inRandomOrder<T>(items: readonly T[]): T[] {
  const rest = [...items]
  return items.flatMap(() => rest.splice(random(rest.length), 1))
}

const figures = []
for (const each of CASES.filter(({ name }) => name.includes(options.only))) {
  const found = await differences(each)
  for (const after of ['same', 'control'] as const) {
    const faster = found[after].filter(difference => difference > 0).length
    const figure = {
      name: each.name,
      after: after === 'same' ? 'the same' : 'control: another one',
      faster,
      chance: signTest(faster, pairs - faster),
      median_ms: median(found[after]),
    }
    figures.push(figure)
    process.stderr.write(`${JSON.stringify(figure)}\n`)
  }
}
agent.destroy()
await service.stop()
await vendor.stop()
rmSync(folder, { recursive: true })

const rows = figures.map(({ name, after, faster, chance, median_ms }) => ({
  ...{ body: name, 'another tenant sent': after },
  ...{ 'faster than unsent': `${faster} of ${pairs}`, p: chance.toPrecision(2) },
  'median ms saved': median_ms.toFixed(2),
}))
console.log(`${tableOf(rows)}\n\n${JSON.stringify(machine())}`)
