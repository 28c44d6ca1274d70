import { EventEmitter } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { Guard } from '../../../src/proxy/guard.ts'

const FOLDER = new URL('../../../src/proxy/', import.meta.url)

/** What binds a handler, without the guard in front of it. */
const UNGUARDED =
  /(?<!guard)\.(?:on|once|addListener|prependListener)\(|(?<!guard)\.nextTick\(|setImmediate\(/g

/** Timers and promises whose callbacks their callers guard. */
const GUARDED_BY_CALLER = [
  'end-gate.ts',
  'forwarder.ts',
  'time-limits.ts',
  'tunnel.ts',
  'websocket/message-relay.ts',
  'websocket/relay-limits.ts',
]

it('gives what a handler throws to one place, and nothing to the caller', () => {
  const thrown = vi.fn()
  const guard = new Guard(thrown)
  const emitter = new EventEmitter()
  const bug = new Error('bug')
  guard.on(emitter, 'a', (text: string) => {
    throw new Error(text, { cause: bug })
  })
  guard.once(emitter, 'b', () => {
    throw bug
  })
  expect(emitter.emit('a', 'first')).toBe(true)
  expect(emitter.emit('b')).toBe(true)
  expect(emitter.emit('b')).toBe(false)
  expect(thrown.mock.calls).toEqual([[new Error('first', { cause: bug })], [bug]])
})

it('is the only way in which handlers are bound', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.ts'),
  )
  expect(files).toContain('guard.ts')
  for (const file of files) {
    if (file === 'guard.ts') continue
    const source = readFileSync(new URL(file, FOLDER), 'utf8')
    expect(source.match(UNGUARDED), file).toBeNull()
    if (GUARDED_BY_CALLER.includes(file)) continue
    expect(source.match(/setTimeout\(|setInterval\(|\.then\(/), file).toBeNull()
  }
})
