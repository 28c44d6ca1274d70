import { describe, expect, it } from 'vitest'
import type { FreshRecord } from '../../../src/core/contract/operation-result.ts'
import { createRewrites } from '../../../src/store/sharing/rewrites.ts'
import type {
  FailureReason,
  RecordKey,
  RecordWrite,
  Result,
  Store,
} from '../../../src/store/store.ts'

/** Records in a map, and what was asked of them. */
function recordsInMemory() {
  const values = new Map<string, Uint8Array>()
  const asked: string[] = []
  const nameOf = ({ tenant, key }: RecordKey) => `${tenant} ${key}`
  const store: Pick<Store, 'readRecord' | 'writeRecord'> = {
    async readRecord(key) {
      asked.push(`read ${nameOf(key)}`)
      const value = values.get(nameOf(key))
      if (value === undefined) return { ok: false, reason: 'not_found', detail: '' }
      return { ok: true, value, version: 1, expires_at: null }
    },
    async writeRecord(write: RecordWrite): Promise<Result<{ readonly version: number }>> {
      asked.push(`write ${nameOf(write)}`)
      if (write.ifVersion === 0 && values.has(nameOf(write))) {
        return { ok: false, reason: 'conflict', detail: '' }
      }
      values.set(nameOf(write), write.value)
      return { ok: true, version: 1 }
    },
  }
  return { rewrites: createRewrites(store, () => 1_000), values, asked }
}

const NOTHING_ASKED = new Map<string, boolean>()
const bytes = (text: string) => new TextEncoder().encode(text)
const record = (key: string, text: string, fields: Partial<FreshRecord> = {}): FreshRecord => {
  return { key, bytes: bytes(text), position: null, ...fields }
}

describe('what was decided', () => {
  it('is told of all keys, with whether any is another', async () => {
    const { rewrites } = recordsInMemory()
    await rewrites.record('t', [record('a', '1'), record('b', '2')])
    expect(await rewrites.decide('t', [record('a', '1'), record('c', '3')], NOTHING_ASKED)).toEqual(
      {
        found: { a: bytes('1') },
        differs: false,
        others: 'left',
      },
    )
    expect(await rewrites.decide('t', [record('a', '1'), record('b', 'x')], NOTHING_ASKED)).toEqual(
      {
        found: { a: bytes('1'), b: bytes('2') },
        differs: true,
        others: 'left',
      },
    )
    expect(await rewrites.decide('other', [record('a', '1')], NOTHING_ASKED)).toEqual({
      found: {},
      differs: false,
      others: 'left',
    })
  })

  it('stays as it was first, unless it is replaced', async () => {
    const { rewrites, values } = recordsInMemory()
    await rewrites.record('t', [record('a', '1')])
    expect(await rewrites.record('t', [record('a', '1')])).toEqual(new Map([['a', 'same']]))
    expect(await rewrites.record('t', [record('a', '2')])).toEqual(new Map([['a', 'other']]))
    expect(values.get('t a')).toEqual(bytes('1'))
    expect(await rewrites.record('t', [record('a', '3', { replaces: true })])).toEqual(new Map())
    expect(values.get('t a')).toEqual(bytes('3'))
  })

  it('is looked up with what it seems to replace, if any is new', async () => {
    const { rewrites } = recordsInMemory()
    await rewrites.record('t', [record('a', '1'), record('b', '2')])
    const replacing = record('b', '3', { replaces: true })
    expect(await rewrites.decide('t', [record('a', 'x'), replacing], NOTHING_ASKED)).toEqual({
      found: { a: bytes('1'), b: bytes('2') },
      differs: true,
      others: 'left',
    })
  })

  it('is looked up once for a request', async () => {
    const { rewrites, asked } = recordsInMemory()
    const before = new Map([['a', false]])
    await rewrites.decide('t', [record('a', '1'), record('b', '2')], before)
    expect(asked).toEqual(['read t b'])
  })

  it('is not looked up if all of it is to be replaced', async () => {
    const { rewrites, asked } = recordsInMemory()
    await rewrites.decide('t', [record('a', '1', { replaces: true })], NOTHING_ASKED)
    expect(asked).toEqual([])
  })
})

describe('a decision that is being made', () => {
  it('is looked up meanwhile, and not once more when it is made', async () => {
    const { rewrites, asked } = recordsInMemory()
    await rewrites.record('t', [record('a', '1')])
    asked.length = 0
    const ahead = rewrites.lookAhead!('t')
    ahead.look(['a', 'b'])
    expect(asked).toEqual(['read t a', 'read t b'])
    const made = [record('a', 'x'), record('b', '2'), record('c', '3')]
    const decided = await rewrites.decide('t', made, NOTHING_ASKED, undefined, ahead)
    expect(decided).toEqual({ found: { a: bytes('1') }, differs: true, others: 'left' })
    expect(asked).toEqual(['read t a', 'read t b', 'read t c'])
  })

  it('is looked up once more if the store was not heard', async () => {
    const answers: Result<never>[] = [
      { ok: false, reason: 'busy', detail: '' },
      { ok: false, reason: 'not_found', detail: '' },
    ]
    const failure = { ok: false, reason: 'failed', detail: '' } as const
    const rewrites = createRewrites(
      { readRecord: async () => answers.shift() ?? failure, writeRecord: async () => failure },
      () => 1_000,
    )
    const ahead = rewrites.lookAhead!('t')
    ahead.look(['a'])
    const decided = await rewrites.decide('t', [record('a', '1')], NOTHING_ASKED, undefined, ahead)
    expect([decided.others, answers]).toEqual(['left', []])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('a bug')
      },
    ],
    ['rejects', () => Promise.reject(new Error('a bug'))],
  ])('ends nothing if a store %s and nobody waits for it', async (_, readRecord) => {
    const rejected: unknown[] = []
    const note = (reason: unknown) => rejected.push(reason)
    process.on('unhandledRejection', note)
    const failure = { ok: false, reason: 'failed', detail: '' } as const
    const rewrites = createRewrites({ readRecord, writeRecord: async () => failure }, () => 1_000)
    const ahead = rewrites.lookAhead!('t')
    ahead.look(['a'])
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(rejected).toEqual([])
    await expect(ahead.find('a')).rejects.toThrow('a bug')
  })
})

describe('a store that fails on recall', () => {
  const failing = (reason: FailureReason) => {
    const failure = { ok: false, reason, detail: '' } as const
    return createRewrites(
      { readRecord: async () => failure, writeRecord: async () => failure },
      () => 1_000,
    )
  }

  it.each(['busy', 'unavailable', 'failed', 'lost', 'closed', 'read_only', 'full'] as const)(
    'is no store without the record: %s',
    async reason => {
      const { others } = await failing(reason).decide('t', [record('a', '1')], NOTHING_ASKED)
      expect(others).toBe('unheard')
    },
  )

  it.each(['not_found', 'gone'] as const)('but %s is', async reason => {
    const recalled = await failing(reason).decide('t', [record('a', '1')], NOTHING_ASKED)
    expect(recalled).toEqual({ found: {}, differs: false, others: 'left' })
  })
})
