import { describe, expect, test } from 'vitest'
import type { Part, PartSelector } from '../../../../src/core/parts/part.ts'
import { type PackedBody, unpackBody } from '../../../../src/store/parts/packed-body.ts'
import { isCutElsewhere } from '../../../../src/store/parts/select-elsewhere.ts'
import { bytesOf, MINUTE, must, noise, text } from '../inline-store.ts'
import { memoryEngine } from './memory-engine.ts'

const MIB = 1024 * 1024
const CHUNK = 65_536

describe('records', () => {
  const key = { tenant: 'a', namespace: 'space', key: 'k' }

  test('may be as large, and have as long a name, as is said', () => {
    const { engine, reasonOf } = memoryEngine()
    const write = (fields: object) =>
      reasonOf(engine.writes.writeRecord({ ...key, value: bytesOf(''), ...fields }))
    expect(write({ value: new Uint8Array(4 * MIB) })).toBe('ok')
    expect(write({ value: new Uint8Array(4 * MIB + 1) })).toBe('too_large')
    expect(write({ key: 'k'.repeat(1024 - 'space'.length) })).toBe('ok')
    expect(write({ key: 'k'.repeat(1025 - 'space'.length) })).toBe('too_large')
  })

  test('have versions that go up by one with each write of any key', () => {
    const { engine, clock } = memoryEngine()
    const write = (name: string, fields: object = {}) =>
      engine.writes.writeRecord({ ...key, key: name, value: bytesOf(name), ...fields })
    expect(['x', 'y', 'x'].map(name => must(write(name)).version)).toEqual([1, 2, 3])
    expect(must(engine.reads.readRecord({ ...key, key: 'x' }))).toMatchObject({
      version: 3,
      expires_at: null,
    })
    must(write('z', { ttlMs: 5 }))
    const z = () => engine.reads.readRecord({ ...key, key: 'z' })
    expect(must(z()).expires_at).toBe(clock.now + 5)
    expect(write('z', { ifVersion: 0 })).toMatchObject({ reason: 'conflict' })
    clock.now += 5
    // Over, though it is still there.
    expect(z()).toMatchObject({ reason: 'not_found' })
    expect(engine.writes.deleteRecord({ ...key, key: 'z' }, undefined)).toMatchObject({
      reason: 'not_found',
    })
    expect(must(write('z', { ifVersion: 0 })).version).toBe(5)
    expect(must(engine.reads.stats('a')).records).toBe(3)
    must(engine.writes.deleteRecord({ ...key, key: 'z' }, 5))
    must(engine.writes.deleteRecord({ ...key, key: 'y' }, undefined))
    expect(must(engine.reads.stats('a')).records).toBe(1)
  })

  test('of a key that is not configured are reported once, damaged ones each time', () => {
    const { engine, database, events } = memoryEngine()
    must(engine.writes.writeRecord({ ...key, value: bytesOf('v') }))
    database.exec(`UPDATE record SET key_id = 'lost', value = x'02'`)
    for (let i = 0; i < 2; i++) {
      expect(engine.reads.readRecord(key)).toMatchObject({ reason: 'gone' })
    }
    database.exec('UPDATE record SET key_id = NULL')
    for (let i = 0; i < 2; i++) engine.reads.readRecord(key)
    const damaged = { kind: 'damaged_record', tenant: 'a', namespace: 'space' }
    expect(events).toEqual([{ kind: 'missing_key', key_id: 'lost' }, damaged, damaged])
  })
})

describe('looking at bodies', () => {
  test('stops after so many, or after 8 MiB, and goes on from there', () => {
    const { engine, put } = memoryEngine()
    for (let i = 0; i < 5; i++) put(noise(2 * MIB, i))
    const check = (limit: number, cursor: number) => must(engine.reads.verify(limit, cursor))
    expect(check(2, 0)).toEqual({ ok: true, checked: 2, damaged: 0, cursor: 2 })
    // With what each costs beside its bytes, four are 8 MiB.
    expect(check(100, 0)).toMatchObject({ checked: 4, cursor: 4 })
    expect(check(100, 2)).toMatchObject({ checked: 3, cursor: null })
    expect(check(3, 2)).toMatchObject({ checked: 3, cursor: 5 })
    expect(check(1, 5)).toMatchObject({ checked: 0, cursor: null })
    expect(engine.reads.verify(0, 0)).toMatchObject({ reason: 'invalid_request' })
  })

  test('finds damage once, and removes it if it is still there', () => {
    const { engine, database, put, events, reasonOf, counters } = memoryEngine()
    const [one, two] = [put('one'), put('two')]
    database.exec(`UPDATE chunk SET data = x'00'`)
    expect(must(engine.reads.verify(10, 0))).toMatchObject({ checked: 2, damaged: 2 })
    expect(must(engine.reads.verify(10, 0)).damaged).toBe(2)
    expect(events).toEqual(
      [one, two].map(({ hash }) => ({ kind: 'damaged_body', tenant: 'a', hash })),
    )
    expect(counters.damaged).toBe(2)
    expect(engine.upkeepDue()).toBe(true)
    // One is put again meanwhile.
    put('two')
    expect(must(engine.writes.removeDamaged())).toEqual({ ok: true, bodies: 1, records: 0 })
    expect(engine.upkeepDue()).toBe(false)
    expect(reasonOf(engine.reads.get({ tenant: 'a', ref: one.hash }))).toBe('gone')
    must(engine.reads.get({ tenant: 'a', ref: two.hash }))
    expect(must(engine.writes.removeDamaged()).bodies).toBe(0)
  })
})

describe('a body that cannot be read', () => {
  test('is gone, with what the reason is', () => {
    const { engine, database, put } = memoryEngine()
    const { hash: ref } = put('x')
    database.exec(`UPDATE body SET key_id = 'lost'; UPDATE chunk SET data = x'02'`)
    const get = () => engine.reads.get({ tenant: 'a', ref })
    const gone = (detail: string) => ({ ok: false, reason: 'gone', detail })
    expect(get()).toEqual(gone(`the key of the original ${ref} is not configured`))
    // It is not removed: the key may come back.
    expect(must(engine.reads.verify(10, 0))).toMatchObject({ damaged: 0 })
    database.exec('UPDATE body SET key_id = NULL')
    expect(get()).toEqual(gone(`the original ${ref} was damaged and is not given back`))
  })

  test.each([-1, -65_536, 4096 * CHUNK + 1, 2 ** 52])('a size of %i is not believed', bytes => {
    const { engine, database, put } = memoryEngine()
    const { hash: ref } = put('x')
    database.prepare('UPDATE body SET bytes = ?').run(bytes)
    expect(engine.reads.get({ tenant: 'a', ref })).toMatchObject({ reason: 'gone' })
  })

  test('that says it is 17 chunks is not read before the last is there', () => {
    const { engine, database, put } = memoryEngine()
    const body = noise(17 * CHUNK, 1)
    const { hash: ref } = put(body)
    const got = must(engine.reads.get({ tenant: 'a', ref }))
    expect(Buffer.compare(got.body, body)).toBe(0)
    database.exec('DELETE FROM chunk WHERE id % 4096 = 16')
    expect(engine.reads.get({ tenant: 'a', ref })).toMatchObject({ reason: 'gone' })
  })
})

describe('a part', () => {
  const bytes = (first: number, last: number): PartSelector => ({
    kind: 'bytes',
    range: { first, last },
  })

  test('of bytes is read from the chunks that it lies in, and from no other', () => {
    const { engine, database, put } = memoryEngine()
    const body = noise(3 * CHUNK, 1)
    const { hash: ref } = put(body)
    database.exec(`UPDATE chunk SET data = x'00' WHERE id % 4096 = 1`)
    const cut = (first: number, last: number) => {
      const found = engine.reads.part({ tenant: 'a', ref }, bytes(first, last))
      if (!found.ok) return found.reason
      if (!('part' in found)) return 'whole'
      const same = Buffer.compare(found.part.content, body.subarray(first, last + 1)) === 0
      // In a buffer of its own, to be handed over.
      return same && found.part.content.buffer.byteLength === last - first + 1
    }
    expect(cut(0, CHUNK - 1)).toBe(true)
    expect(cut(5, CHUNK - 2)).toBe(true)
    expect(cut(2 * CHUNK, 3 * CHUNK - 1)).toBe(true)
    expect(cut(2 * CHUNK + 7, 2 * CHUNK + 7)).toBe(true)
    expect(cut(0, CHUNK)).toBe('gone')
    expect(cut(2 * CHUNK - 1, 2 * CHUNK)).toBe('gone')
  })

  test('that is outside is the client’s mistake, and counts as no use', () => {
    const { engine, put } = memoryEngine()
    const { hash: ref } = put('abc')
    expect(engine.reads.part({ tenant: 'a', ref }, bytes(3, 4))).toMatchObject({
      reason: 'invalid_request',
    })
    const found = must<object>(engine.reads.part({ tenant: 'a', ref }, bytes(1, 9)))
    expect('part' in found && text((found.part as Part).content)).toBe('bc')
  })

  test('is cut elsewhere if all of a large body is looked through', () => {
    const kinds = ['bytes', 'lines', 'path', 'grep'] as const
    const elsewhere = (size: number | null) =>
      kinds.filter(kind => isCutElsewhere({ kind } as PartSelector, size))
    expect(elsewhere(CHUNK)).toEqual([])
    expect(elsewhere(CHUNK + 1)).toEqual(['path', 'grep'])
    expect(elsewhere(null)).toEqual(['path', 'grep'])
    const { engine, put } = memoryEngine({ compressFromBytes: 0 })
    const selector = { kind: 'grep', text: 'x', context: 0, ignoreCase: false } as never
    const packed = (body: Uint8Array) => {
      const { hash: ref } = put(body)
      const found = must<object>(engine.reads.part({ tenant: 'a', ref }, selector))
      if (!('whole' in found)) throw new Error('it was cut')
      return found.whole as PackedBody
    }
    for (const body of [noise(CHUNK + 1, 1), Buffer.alloc(3 * CHUNK, 'repeated text\n')]) {
      expect(Buffer.compare(unpackBody(packed(body)), body)).toBe(0)
    }
    // The store has not decompressed it.
    expect(packed(Buffer.alloc(4 * CHUNK, 'a')).packed.length).toBeLessThan(1000)
  })

  test.each([`data = x'00'`, 'id = id + 1'])(
    'of which a chunk is damaged (%s) is not cut elsewhere',
    damage => {
      const { engine, database, put } = memoryEngine()
      const { hash: ref } = put(noise(3 * CHUNK, 1))
      database.exec(`UPDATE chunk SET ${damage} WHERE id % 4096 = 2`)
      const selector = { kind: 'grep', text: 'x', context: 0, ignoreCase: false } as never
      expect(engine.reads.part({ tenant: 'a', ref }, selector)).toMatchObject({ reason: 'gone' })
    },
  )
})

describe('a reference in a session', () => {
  test('means no body that has expired, swept or not', () => {
    const { engine, clock, put, reasonOf } = memoryEngine()
    const { hash } = put('x', { session: 's', ttlMs: MINUTE })
    const get = () => engine.reads.get({ tenant: 'a', session: 's', ref: hash.slice(0, 8) })
    clock.now += MINUTE - 1
    expect(reasonOf(get())).toBe('ok')
    clock.now += 1
    expect(reasonOf(get())).toBe('gone')
  })

  test('means no body from which it differs in a later digit', () => {
    const { engine, put, reasonOf } = memoryEngine()
    const { hash } = put('x', { session: 's' })
    const other = hash.slice(0, 20) + (hash[20] === '0' ? '1' : '0')
    const get = (ref: string) => reasonOf(engine.reads.get({ tenant: 'a', session: 's', ref }))
    expect([get(hash.slice(0, 20)), get(other)]).toEqual(['ok', 'not_found'])
  })

  test('of a body that was damaged and put again keeps it as it was kept before', () => {
    for (const [session, left] of [
      [undefined, 1],
      ['s', 0],
    ] as const) {
      const { engine, database, put } = memoryEngine()
      put('x', { session: 's' })
      database.exec(`UPDATE chunk SET data = x'00'`)
      expect(put('x', session === undefined ? {} : { session }).created).toBe(true)
      must(engine.writes.disownSession('a', 's'))
      expect(must(engine.reads.stats('a')).bodies).toBe(left)
    }
  })
})

test('a body that is touched or put again never ends earlier than was promised', () => {
  const { engine, clock, put } = memoryEngine()
  const now = clock.now
  const ends = (fields: object) => put('x', fields).expires_at - now
  expect(ends({ ttlMs: 5 * MINUTE })).toBe(5 * MINUTE)
  expect(ends({ ttlMs: MINUTE })).toBe(5 * MINUTE)
  expect(ends({ ttlMs: MINUTE, pinUntil: now + 6 * MINUTE })).toBe(6 * MINUTE)
  // A pin that is over promises nothing.
  expect(ends({ ttlMs: MINUTE, pinUntil: now })).toBe(6 * MINUTE)
  expect(put('y', { ttlMs: 1, pinUntil: now + 9 }).expires_at - now).toBe(9)
  expect(put('z', { ttlMs: 9, pinUntil: now + 1 }).expires_at - now).toBe(9)
  const { hash: ref } = put('x')
  const touched = must(engine.writes.touch({ tenant: 'a', ref, ttlMs: 60 * MINUTE }))
  expect(touched).toEqual({
    ok: true,
    hash: ref,
    bytes: 1,
    expires_at: now + 60 * MINUTE,
    created: false,
  })
})

test('a body that has expired and was not swept is kept as a new one', () => {
  const { engine, clock, put } = memoryEngine()
  put('x', { ttlMs: 1 })
  clock.now += 1
  expect(put('x')).toMatchObject({ created: true, expires_at: clock.now + 30 * MINUTE })
  const stats = must(engine.reads.stats(undefined))
  expect([stats.bodies, stats.file?.tombstones]).toEqual([1, 0])
})

test('lines of an empty body are the client’s mistake', () => {
  const { engine, put } = memoryEngine()
  const { hash: ref } = put('')
  const lines: PartSelector = { kind: 'lines', range: { first: 1, last: 1 } }
  expect(engine.reads.part({ tenant: 'a', ref }, lines)).toMatchObject({
    reason: 'invalid_request',
  })
})

test('versions go on above those of a record that was carried over', () => {
  const { engine } = memoryEngine()
  const key = { tenant: 'a', namespace: 'n', key: 'k' }
  const old = { ...key, value: bytesOf('old'), version: 50, expires_at: null }
  expect(engine.restore.record(old)).toBeUndefined()
  expect(must(engine.reads.readRecord(key)).version).toBe(50)
  // What is there already stays, but its version is known.
  expect(engine.restore.record({ ...old, value: bytesOf('x'), version: 60 })).toBeUndefined()
  expect(text(must(engine.reads.readRecord(key)).value)).toBe('old')
  expect(must(engine.writes.writeRecord({ ...key, value: bytesOf('new') })).version).toBe(61)
})

test('a step of a purge that has ended has nothing to do', () => {
  const { engine, put } = memoryEngine()
  put('x', { session: 's' })
  const nothing = { ok: true, bodies: 0, records: 0, done: true }
  expect([engine.writes.purgeSession(1), engine.writes.purgeTenant(1)]).toEqual([nothing, nothing])
})
