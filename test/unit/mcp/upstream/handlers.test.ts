import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const FOLDER = new URL('../../../../src/mcp/upstream/', import.meta.url)

/** What binds a handler of an emitter without the guard of `src/proxy/guard.ts`. */
const UNGUARDED =
  /(?<!guard)\.(?:on|once|addListener|prependListener)\(|\.nextTick\(|setImmediate\(/g

/** Timers are made by the clock alone. */
const TIMERS = /setTimeout\(|setInterval\(/

it('handlers of sockets and processes are bound by the guard', () => {
  const files = readdirSync(FOLDER)
  expect(files).toContain('stdio-transport.ts')
  for (const file of files) {
    const source = readFileSync(new URL(file, FOLDER), 'utf8')
    expect(source.match(UNGUARDED), file).toBeNull()
    if (file !== 'clock.ts') expect(source.match(TIMERS), file).toBeNull()
  }
})
