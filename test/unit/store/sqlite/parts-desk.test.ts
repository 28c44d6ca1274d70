import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Part, PartSelector } from '../../../../src/core/parts/part.ts'
import { createSizes } from '../../../../src/store/parts/call-size.ts'
import { type PackedBody, unpackBody } from '../../../../src/store/parts/packed-body.ts'
import { createPartsDesk } from '../../../../src/store/parts/parts-desk.ts'
import type { PartAnswer } from '../../../../src/store/parts/select-elsewhere.ts'
import { fail } from '../../../../src/store/values/failure.ts'

const SELECTOR: PartSelector = { kind: 'path', path: [] } as never
const ABOUT = {
  ok: true,
  hash: 'f',
  bytes: 1,
  expires_at: 2,
  media_type: 'x',
  created_at: 3,
} as const
const PART: Part = {
  kind: 'bytes',
  content: new Uint8Array(1),
  first: 0,
  last: 0,
  total: 1,
} as never

/** A desk whose reads and cuts the test settles, in the order in which they came. */
function desk({ maxCalls = 100, maxWaitMs = 1e9 } = {}) {
  const reads: (PromiseWithResolvers<object> & { tenant: string })[] = []
  const cuts: (PromiseWithResolvers<PartAnswer> & { body: PackedBody })[] = []
  const gets: PromiseWithResolvers<object>[] = []
  const state = { closed: 0 }
  const parts = createPartsDesk({
    sizes: createSizes(),
    maxCalls,
    maxWaitMs,
    read({ tenant }) {
      const read = { ...Promise.withResolvers<object>(), tenant }
      reads.push(read)
      return read.promise as never
    },
    get() {
      const got = Promise.withResolvers<object>()
      gets.push(got)
      return got.promise as never
    },
    elsewhere: {
      select(body) {
        const cut = { ...Promise.withResolvers<PartAnswer>(), body }
        cuts.push(cut)
        return cut.promise
      },
      close: async () => void state.closed++,
    },
  })
  const part = (tenant = 'a') => parts.part({ tenant, ref: 'f'.repeat(12) }, SELECTOR)
  const whole = { ...ABOUT, whole: { packed: new Uint8Array(1), bytes: 1, chunkBytes: 1 } }
  return { parts, part, reads, cuts, gets, whole, state }
}

describe('a part', () => {
  test('is cut from the whole body elsewhere, and says what the body is', async () => {
    const { part, reads, cuts, whole, parts } = desk()
    const answer = part()
    await turn()
    reads[0]!.resolve(whole)
    await turn()
    cuts[0]!.resolve({ ok: true, part: PART })
    expect(await answer).toEqual({ ...ABOUT, part: PART })
    expect(parts).toMatchObject({ waiting: 0, refused: 0 })
  })

  test('that the store’s thread has cut, or failed to, is answered as it is', async () => {
    const { part, reads, cuts } = desk()
    const answers = [part(), part()]
    await turn()
    reads[0]!.resolve({ ...ABOUT, part: PART })
    reads[1]!.resolve(fail('gone', 'no'))
    expect(await Promise.all(answers)).toEqual([{ ...ABOUT, part: PART }, fail('gone', 'no')])
    expect(cuts).toEqual([])
  })

  test('that cannot be cut fails with the reason', async () => {
    const { part, reads, cuts, whole } = desk()
    const answer = part()
    await turn()
    reads[0]!.resolve(whole)
    await turn()
    cuts[0]!.resolve(fail('invalid_request', 'no such path'))
    expect(await answer).toEqual(fail('invalid_request', 'no such path'))
  })
})

describe('a body that cannot be decompressed', () => {
  async function damaged() {
    const { part, reads, cuts, gets, whole } = desk()
    const answer = part()
    await turn()
    reads[0]!.resolve(whole)
    await turn()
    cuts[0]!.resolve(fail('gone', 'cannot be decompressed'))
    await turn()
    return { answer, cuts, got: gets[0]! }
  }

  test('is read again by the store, which notes the damage and answers', async () => {
    const { answer, cuts, got } = await damaged()
    got.resolve(fail('gone', 'the original f was damaged'))
    expect(await answer).toEqual(fail('gone', 'the original f was damaged'))
    expect(cuts).toHaveLength(1)
  })

  test('is cut if it was mended meanwhile', async () => {
    const { answer, cuts, got } = await damaged()
    got.resolve({ ...ABOUT, body: Buffer.from('mended') })
    await turn()
    expect(Buffer.from(unpackBody(cuts[1]!.body)).toString()).toBe('mended')
    cuts[1]!.resolve({ ok: true, part: PART })
    expect(await answer).toEqual({ ...ABOUT, part: PART })
  })
})

describe('what waits', () => {
  test('two bodies are read at once, one is cut, and the others hold no body', async () => {
    const { parts, part, reads, cuts, whole } = desk()
    const answers = Array.from({ length: 4 }, () => part())
    await turn()
    expect([reads.length, parts.waiting]).toEqual([2, 2])
    reads[0]!.resolve(whole)
    reads[1]!.resolve(whole)
    await turn()
    expect([reads.length, cuts.length]).toEqual([2, 1])
    cuts[0]!.resolve({ ok: true, part: PART })
    await turn()
    expect([reads.length, cuts.length, parts.waiting]).toEqual([3, 2, 1])
    cuts[1]!.resolve({ ok: true, part: PART })
    await turn()
    expect([reads.length, parts.waiting]).toEqual([4, 0])
    for (const { resolve } of reads.slice(2)) resolve(fail('gone', ''))
    await Promise.all(answers)
  })

  test('tenants go in turn', async () => {
    const { part, reads } = desk()
    const answers = [part('a'), part('a'), part('a'), part('a'), part('b')]
    await turn()
    reads[0]!.resolve(fail('gone', ''))
    reads[1]!.resolve(fail('gone', ''))
    await turn()
    expect(reads.map(({ tenant }) => tenant)).toEqual(['a', 'a', 'b', 'a'])
    for (let i = 2; i < 5; i++) {
      reads[i]!.resolve(fail('gone', ''))
      await turn()
    }
    await Promise.all(answers)
  })

  test('a failed read lets the next one go', async () => {
    const { part, reads } = desk()
    const answers = [part(), part(), part()]
    const settled = Promise.allSettled(answers)
    await turn()
    reads[0]!.reject(new Error('a bug'))
    await turn()
    expect(reads).toHaveLength(3)
    for (const { resolve } of reads) resolve(fail('gone', ''))
    expect((await settled).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
  })
})

describe('a part is refused', () => {
  test('when too many of its tenant wait, and not when they are done', async () => {
    const { parts, part, reads } = desk({ maxCalls: 8 })
    const answers = Array.from({ length: 7 }, () => part())
    expect(await part()).toEqual(fail('busy', 'the store’s queue is full'))
    const other = part('b')
    expect(await part('b')).toMatchObject({ reason: 'busy' })
    expect(parts.refused).toBe(2)
    for (let i = 0; i < 8; i++) {
      await turn()
      reads[i]!.resolve(fail('gone', ''))
    }
    await Promise.all([...answers, other])
    void part()
    expect(parts.refused).toBe(2)
  })

  test('by what such parts took so far', async () => {
    const { parts, part, reads } = desk({ maxWaitMs: 5 })
    const first = part()
    await turn()
    reads[0]!.resolve(fail('gone', ''))
    await first
    // It took no time worth mentioning, so that the next ones are short, too.
    const answers = Array.from({ length: 4 }, () => part())
    expect([parts.refused, parts.waiting]).toEqual([0, 2])
    for (let i = 1; i < 5; i++) {
      await turn()
      reads[i]!.resolve(fail('gone', ''))
    }
    await Promise.all(answers)
  })

  test('when its tenant would wait too long, with the seconds', async () => {
    const { parts, part, reads } = desk({ maxWaitMs: 0.2 })
    // One read of unknown size is estimated at 0.08 ms; two are under way, and do not wait.
    const answers = Array.from({ length: 5 }, () => part())
    expect(await part()).toEqual(fail('busy', 'the store would answer in 1 s'))
    expect(parts).toMatchObject({ refused: 1, waiting: 3 })
    const other = part('b')
    expect(parts.refused).toBe(1)
    for (let i = 0; i < 6; i++) {
      await turn()
      reads[i]!.resolve(fail('gone', ''))
    }
    await Promise.all([...answers, other])
  })
})

describe('closing', () => {
  test('answers what was accepted, and refuses the rest', async () => {
    const { parts, part, reads, state } = desk()
    const answers = [part(), part(), part()]
    await turn()
    const closed = parts.close()
    expect(await part()).toEqual(fail('closed', 'the store is closed'))
    expect(parts.refused).toBe(1)
    for (let i = 0; i < 3; i++) {
      expect(state.closed).toBe(0)
      reads[i]!.resolve(fail('gone', ''))
      await turn()
    }
    await closed
    expect(await Promise.all(answers)).toEqual(Array(3).fill(fail('gone', '')))
    expect(state.closed).toBe(1)
  })

  test('waits for nothing if nothing was accepted', async () => {
    const { parts, state } = desk()
    await parts.close()
    expect(state.closed).toBe(1)
  })
})
