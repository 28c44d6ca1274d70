/**
 * A process that keeps bodies until it is killed: `worker-writer.ts FOLDER RUN [fill]`. It prints
 * `RUN:NUMBER` once the store has acknowledged a body; `bodyOf` says what that body is. With `fill`
 * it writes until it is refused, reads back what it wrote, waits for a line, and writes again.
 */
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'

/** Sizes that take one page, several, and several chunks. */
const SIZES = [100, 4096, 20_000, 150_000]
const AT_ONCE = 16
/** More than is ever written: an evicted body would look like a lost one. */
export const MAX_BYTES = 16 * 2 ** 30
const DAY_MS = 24 * 60 * 60 * 1000

/** The body that a process wrote, by what it printed. */
export function bodyOf(name: string): Uint8Array {
  const block = createHash('sha256').update(name).digest()
  return Buffer.alloc(SIZES[block[0]! % SIZES.length]!, block)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function write(folder: string, run: string, fill: boolean): Promise<void> {
  const store = await openSqliteStore({
    folder,
    maxBytes: MAX_BYTES,
    compressFromBytes: null,
    onEvent: event => print(`event ${JSON.stringify(event)}`),
  })
  const put = async (name: string) => {
    const item = { tenant: 'a', body: bodyOf(name), mediaType: 'x', session: run, ttlMs: DAY_MS }
    const [result] = await store.put([item])
    if (result?.ok === true) print(name)
    return result
  }
  let next = 0
  const lane = async () => {
    for (;;) {
      const result = await put(`${run}:${next++}`)
      if (result?.ok === false && (fill || result.reason !== 'busy')) return result.reason
    }
  }
  const reasons = await Promise.all(Array.from({ length: AT_ONCE }, lane))
  print(`refused ${reasons.join()}`)
  const first = createHash('sha256')
    .update(bodyOf(`${run}:0`))
    .digest('hex')
  print(`read ${(await store.get({ tenant: 'a', ref: first })).ok}`)
  for await (const line of createInterface({ input: process.stdin })) {
    const result = await put(`${run}:${line}`)
    if (result?.ok === true) break
    print(`refused ${result?.reason}`)
  }
  await store.close()
  print('closed')
}

if (import.meta.main) {
  const [folder, run, mode] = process.argv.slice(2)
  await write(folder!, run!, mode === 'fill')
}
