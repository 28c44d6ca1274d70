import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import type { SharedTurn } from '../../../../src/core/sessions/journal/apply-changes.ts'
import { MAX_REFERENCES } from '../../../../src/core/sessions/turn/decode-references.ts'
import { answerQuestions } from '../../../../src/http/jobs/questions.ts'
import type { SharedTurns } from '../../../../src/store/sharing/shared-turns.ts'
import type { StoredBody } from '../../../../src/store/store.ts'
import { fail } from '../../../../src/store/values/failure.ts'

type Sharing = Pick<SharedTurns, 'resolve'>

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: string) => ({ bytes: bytes(content), media_type: 'text/plain' })

/** Questions about these texts, by reference, or by reference and session. */
function questions(
  texts: Record<string, string | AppError>,
  { room = 1e9, sharing = undefined as Sharing | undefined } = {},
) {
  const fetched: string[] = []
  const claimed: number[] = []
  const claim = (size: number) => {
    claimed.push(size)
    if (claimed.reduce((sum, each) => sum + each, 0) > room) {
      throw new AppError('payload_too_large', 'no room')
    }
  }
  const authority = answerQuestions({
    tenant: 't',
    claim,
    sharing,
    originals: {
      async fetch({ tenant, ref, session }, take) {
        const name = session === undefined ? ref : `${ref} ${session}`
        fetched.push(`${tenant} ${name}`)
        const found = texts[name] ?? new AppError('not_found', `no ${name}`)
        if (typeof found !== 'string') throw found
        take(found.length)
        return { body: bytes(found), media_type: 'text/plain' } as StoredBody
      },
    },
  })
  return { authority, fetched, claimed }
}

describe('inputs', () => {
  test('are fetched once, and take room with each use', async () => {
    const { authority, fetched, claimed } = questions({ x: 'one', y: 'three' })
    const lookups = [{ input_ref: 'x' }, null, { input_ref: 'y' }, { input_ref: 'x' }]
    expect(await authority.resolve(lookups)).toEqual([
      { input: text('one') },
      null,
      { input: text('three') },
      { input: text('one') },
    ])
    expect([fetched, claimed]).toEqual([
      ['t x', 't y'],
      [3, 5, 3],
    ])
  })

  test('that are not there fail their own job', async () => {
    const { authority } = questions({ x: 'one' })
    const [first, second] = await authority.resolve([{ input_ref: 'none' }, { input_ref: 'x' }])
    expect(first).toEqual({ problem: { code: 'not_found', detail: 'no none' } })
    expect(second).toEqual({ input: text('one') })
  })

  test('for which there is no room fail, the second use too', async () => {
    const { authority } = questions({ x: '12345' }, { room: 9 })
    const [first, second] = await authority.resolve([{ input_ref: 'x' }, { input_ref: 'x' }])
    expect(first).toEqual({ input: text('12345') })
    expect(second).toEqual({ problem: { code: 'payload_too_large', detail: 'no room' } })
  })
})

describe('references', () => {
  const asking = (session: string, ...refs: string[]) => ({ references: { session, refs } })

  test('are fetched once for a session; what is not there stays out', async () => {
    const gone = new AppError('gone', '')
    const twice = new AppError('ambiguous', '')
    const texts = { 'a s': 'one', 'a t': 'other', 'g s': gone, 'd s': twice }
    const { authority, fetched, claimed } = questions(texts)
    const lookups = [
      asking('s', 'a', 'none', 'g', 'd'),
      asking('t', 'a'),
      null,
      asking('s', 'a', 'g'),
    ]
    expect(await authority.resolve(lookups)).toEqual([
      { texts: { a: text('one') } },
      { texts: { a: text('other') } },
      null,
      { texts: { a: text('one') } },
    ])
    expect(fetched).toEqual(['t a s', 't none s', 't g s', 't d s', 't a t'])
    expect(claimed).toEqual([3, 5, 3])
  })

  test('of a store that fails are unknown, not absent', async () => {
    const { authority } = questions({ 'a s': new AppError('overloaded', 'later') })
    expect(await authority.resolve([asking('s', 'a')])).toEqual([
      { problem: { code: 'overloaded', detail: 'later' } },
    ])
  })

  test('are looked for up to a number', async () => {
    const { authority, fetched } = questions({})
    const many = Array.from({ length: 4 * MAX_REFERENCES }, (_, i) => `r${i}`)
    expect(await authority.resolve([asking('s', ...many), asking('s', 'r0', 'more')])).toEqual([
      { texts: {} },
      {
        problem: {
          code: 'payload_too_large',
          detail: `more than ${4 * MAX_REFERENCES} earlier results`,
        },
      },
    ])
    expect(fetched).toHaveLength(4 * MAX_REFERENCES)
  })

  test('a bug is thrown on', async () => {
    const bug = new TypeError('a bug')
    const { authority } = questions({ 'a s': bug as AppError, x: bug as AppError })
    await expect(authority.resolve([asking('s', 'a')])).rejects.toBe(bug)
    await expect(authority.resolve([{ input_ref: 'x' }])).rejects.toBe(bug)
  })
})

describe('sessions that other processes share', () => {
  const session = { session: 's', isCounted: true }
  const turn = { epoch: 1 } as SharedTurn

  test('are asked for if there is a session, and what is known of them is joined', async () => {
    const asked: unknown[] = []
    const sharing: Sharing = {
      async resolve(lookups) {
        asked.push(lookups)
        return [{ ok: true, ...turn }, undefined, fail('unavailable', 'away')]
      },
    }
    const { authority } = questions({ x: 'one' }, { sharing })
    const lookups = [{ input_ref: 'x', session }, null, { session }]
    expect(await authority.resolve(lookups)).toEqual([
      { input: text('one'), shared: { ok: true, ...turn } },
      null,
      // It is unknown, so the job is answered without its session.
      {},
    ])
    expect(asked).toEqual([lookups])
    await authority.resolve([{ input_ref: 'x' }, null])
    expect(asked).toHaveLength(1)
  })

  test('do not count a result whose input is not there', async () => {
    const asked: unknown[] = []
    const sharing: Sharing = {
      async resolve(lookups) {
        asked.push(...lookups)
        return lookups.map(() => undefined)
      },
    }
    const { authority } = questions({}, { sharing })
    await authority.resolve([{ input_ref: 'gone', session }, { session }])
    expect(asked).toEqual([null, { session }])
  })

  test('are only ours without other processes', async () => {
    expect(await questions({}).authority.resolve([{ session }])).toEqual([{}])
  })
})
