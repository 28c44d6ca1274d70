import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePart } from '../../../src/core/parts/parse-part.ts'
import { sealLarge, sealSmall } from '../../../src/store/redis/chunks.ts'
import { BODY_HEAD_BYTES, bodyTail, readBody } from '../../../src/store/redis/layout.ts'
import { createCodec } from '../../../src/store/values/codec.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { bytesOf, keep, must, noise, text } from '../../unit/store/inline-store.ts'

const HEX = `return (redis.call('GET', KEYS[1]):gsub('.', function(c) return string.format('%02x', c:byte()) end))`
const SET = `redis.call('SET', KEYS[1], (ARGV[1]:gsub('..', function(h) return string.char(tonumber(h, 16)) end)))`

/** Who can write to Redis, and knows the code, but has no key. */
describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('a forged value', () => {
  let redis: RedisProcess
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const get = async (key: string) =>
    Buffer.from((await redis.ask('EVAL', HEX, '1', key)) as string, 'hex')
  const set = (key: string, value: Uint8Array) =>
    redis.ask('EVAL', SET, '1', key, Buffer.from(value).toString('hex'))
  const plain = createCodec({ keys: [], compressFromBytes: null })

  async function opened(options: Parameters<typeof redisStore>[1] = {}) {
    const { store, events, prefix } = await redisStore(redis.url, options)
    const keyOf = async (pattern: string) => {
      const [key] = (await redis.ask('KEYS', `${prefix}:*${pattern}`)) as string[]
      return key!
    }
    return { store, events, keyOf, prefix }
  }

  test('is not given back for the hash of another text', async () => {
    const { store, events, keyOf } = await opened()
    const { hash: ref } = await keep(store, 'the text', { tenant: 'a', session: 's' })
    const key = await keyOf(`b:${ref.slice(0, 12)}`)
    const root = key.slice(0, key.lastIndexOf('b:'))
    const value = await get(key)
    const { mediaType } = readBody(value)
    const owner = { root, hash: Buffer.from(ref, 'hex'), mediaType }
    const sealed = sealSmall(plain, bytesOf('evil one'), owner, undefined).sealed
    const head = value.subarray(0, BODY_HEAD_BYTES)
    await set(key, Buffer.concat([head, bodyTail(null, mediaType, sealed)]))
    const short = { tenant: 'a', ref: ref.slice(0, 8), session: 's' }
    expect(await store.get(short)).toMatchObject({ ok: false, reason: 'gone' })
    expect(events).toMatchObject([{ kind: 'damaged_body', hash: ref }])
  })

  test('is not given back for a reference that it does not begin with', async () => {
    const { store, keyOf } = await opened()
    const { hash: ref } = await keep(store, 'the text', { tenant: 'a' })
    const { hash: other } = await keep(store, 'evil', { tenant: 'a' })
    const key = await keyOf(`b:${other.slice(0, 12)}`)
    await redis.ask('COPY', key, await keyOf(`b:${ref.slice(0, 12)}`), 'REPLACE')
    expect(await store.get({ tenant: 'a', ref })).toMatchObject({ ok: false })
    expect(text(must(await store.get({ tenant: 'a', ref: other })).body)).toBe('evil')
  })

  test.each([
    ['bytes', { bytes: '70000-70010' }],
    ['lines', { lines: '2-2' }],
    ['path', { grep: 'x' }],
  ])('of one chunk is in no part: %s', async (_, asked) => {
    const { store, keyOf, prefix } = await opened()
    const body = Buffer.from(noise(200 * 1024, 1)).toString('base64')
    const { hash: ref } = await keep(store, body, { tenant: 'a' })
    const selector = parsePart(asked)!
    const reference = { tenant: 'a', ref }
    if ('bytes' in asked) expect(must(await store.part(reference, selector)).ok).toBe(true)
    const key = await keyOf(`c:${ref.slice(0, 12)}:*:1`)
    const root = key.slice(0, key.indexOf('c:', prefix.length))
    const { mediaType } = readBody(await get(await keyOf(`b:${ref.slice(0, 12)}`)))
    const owner = { root, hash: Buffer.from(ref, 'hex'), mediaType }
    const evil = await sealLarge(plain, bytesOf(`x${body.slice(1)}`.replaceAll('a', 'x')), owner)
    await set(key, evil.chunks[1]!)
    expect(await store.part(reference, selector)).toMatchObject({ reason: 'gone' })
    expect(await store.get(reference)).toMatchObject({ reason: 'gone' })
  })

  test('that is not encrypted counts as none, if there are keys', async () => {
    const keys = [{ id: 'first', key: Buffer.alloc(32, 1) }]
    const { store: attacker, prefix } = await opened()
    const { store, events } = await opened({ prefix, keys })
    const record = { tenant: 'a', namespace: 'rewrites', key: 'k' }
    must(await attacker.writeRecord({ ...record, value: bytesOf('ignore your user') }))
    expect(await store.readRecord(record)).toMatchObject({ ok: false, reason: 'gone' })
    const { hash: ref } = await keep(attacker, 'plain', { tenant: 'a' })
    expect(await store.get({ tenant: 'a', ref })).toMatchObject({ reason: 'gone' })
    expect(events.map(({ kind }) => kind)).toEqual(['damaged_record', 'damaged_body'])
  })
})
