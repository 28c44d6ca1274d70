import { describe, expect, test } from 'vitest'
import { packChunks } from '../../../../src/store/parts/packed-body.ts'
import { selectOwn } from '../../../../src/store/parts/select-elsewhere.ts'
import { buffersOf, isUrgent, isWrite } from '../../../../src/store/sqlite/protocol.ts'
import { fail } from '../../../../src/store/values/failure.ts'
import { bytesOf, text } from '../inline-store.ts'

const READS = ['get', 'part', 'readRecord', 'stats', 'verify'] as const
const WRITES = ['put', 'touch', 'writeRecord', 'deleteRecord', 'expire', 'upkeep'] as const

test('reads need no transaction that writes, and what is short is urgent', () => {
  expect(READS.filter(isWrite)).toEqual([])
  expect(WRITES.filter(isWrite)).toEqual(WRITES)
  expect([...READS, ...WRITES].filter(isUrgent)).toEqual(['readRecord', 'stats', 'touch'])
})

describe('an answer', () => {
  const buffers = (answer: object) => buffersOf(answer as Parameters<typeof buffersOf>[0])

  test('hands over the buffers of what it carries', () => {
    const view = new Uint8Array(3)
    const { buffer } = view
    expect(buffers({ ok: true, body: view })).toEqual([buffer])
    expect(buffers({ ok: true, whole: { packed: view } })).toEqual([buffer])
    expect(buffers({ ok: true, part: { content: view } })).toEqual([buffer])
    expect(buffers({ ok: true, value: view })).toEqual([buffer])
    expect(buffers({ ok: true, bodies: 1 })).toEqual([])
    expect(buffers({ ...fail('gone', ''), body: view })).toEqual([])
  })
})

describe('a part that is cut elsewhere', () => {
  const packed = (content: string, bytes = content.length) => {
    const chunks = [{ bytes: bytesOf(content), isCompressed: false }]
    return { packed: packChunks(chunks), bytes, chunkBytes: bytes }
  }
  const select = (content: string, first: number, last: number) =>
    selectOwn({
      body: packed(content),
      selector: { kind: 'bytes', range: { first, last } },
    })

  test('has a buffer of its own, to be handed over', () => {
    const answer = select('abcdef', 1, 2)
    expect(answer.ok && text(answer.part.content)).toBe('bc')
    expect(answer.ok && answer.part.content.buffer.byteLength).toBe(2)
    const whole = select('abc', 0, 2)
    expect(whole.ok && text(whole.part.content)).toBe('abc')
  })

  test('of a body that cannot be decompressed says so, for the store to look at it again', () => {
    const selector = { kind: 'bytes', range: { first: 0, last: 1 } } as const
    expect(selectOwn({ body: packed('abc', 4), selector })).toMatchObject({ reason: 'gone' })
  })

  test('that is not there is the client’s mistake', () => {
    expect(select('abc', 3, 4)).toMatchObject({ ok: false, reason: 'invalid_request' })
  })
})
