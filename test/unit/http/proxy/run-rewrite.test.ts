import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { SentRequest } from '../../../../src/book/bill/answered-request.ts'
import { AppError } from '../../../../src/core/base/errors.ts'
import type { RequestTerms } from '../../../../src/core/contract/request-terms.ts'
import type { RequestState, Rewriting } from '../../../../src/http/context.ts'
import { type ReadBody, runRewrite } from '../../../../src/http/proxy/run-rewrite.ts'
import { type Entry, messageOf } from '../../../../src/pool/entry.ts'
import type { Job, JobResult } from '../../../../src/pool/job.ts'
import type { RecordedBefore, Rewrites } from '../../../../src/store/sharing/rewrites.ts'
import { OutageWaits, type WaitBounds } from '../../../../src/store/values/outage-waits.ts'
import { eventually } from '../../../support/eventually.ts'
import { rowWith } from '../../../support/result-rows.ts'
import { inContext } from '../http-context.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const REPORT = { readable: true, texts: 1, rewritten: 1, tokens_saved: 2 }
const BODY: ReadBody = {
  vendor: 'openai',
  shape: 'openai_chat',
  body: bytes('as sent'),
  forgets: false,
}

type Outcome = Partial<JobResult & { readonly ok: true }>

const rowTaking = (before: number, after: number) =>
  JSON.stringify(rowWith({ tokens: { before, after } }))
const ROW = rowTaking(10, 5)

function done(fields: Outcome = {}): JobResult {
  return {
    ok: true,
    queue_ms: 1,
    work_ms: 2,
    media: 'json',
    body: bytes('smaller'),
    reports: [{ op: 'x' }, { op: 'rewrite', rewrite: REPORT, row: ROW }],
    keep: [],
    records: [],
    markers: [],
    dependencies: [],
    ...fields,
  }
}

interface Setting {
  readonly body?: ReadBody
  readonly timeoutMs?: number
  /** Whether markers' originals are there, in turn. */
  readonly renewed?: readonly (boolean | 'unheard')[]
  /** How long a turn waits for a store that is shared; absent: it is not. */
  readonly waitMs?: number
  /** What the store says of decisions; absent: they are still to be recorded. */
  readonly decide?: Rewrites['decide']
  readonly lookAhead?: Rewrites['lookAhead']
  readonly kept?: (text: string) => void
  readonly before?: RecordedBefore
  /** What arms are drawn with; absent: there are none. */
  readonly arms?: 'unknown' | { readonly holdout: number }
}

const waitsOf = (waitMs: number) => new OutageWaits({ awayMs: () => 0, waitMs, outageMs: waitMs })

/** Rewrites a body by a worker that gives these results in turn. */
async function rewrite(results: readonly (JobResult | Error | null)[], setting: Setting = {}) {
  const jobs: Job[] = []
  const noted: string[] = []
  const logged: unknown[] = []
  const state = { requestId: 'r', caller: { tenant: 't' }, timing: {} } as unknown as RequestState
  const renewed = [...(setting.renewed ?? [])]
  const run = async (job: Job) => {
    jobs.push(job)
    const result = results[jobs.length - 1]
    if (result instanceof Error) throw result
    return result ?? new Promise<never>(() => {})
  }
  const rewriting = {
    timeoutMs: setting.timeoutMs ?? 60_000,
    maxBytes: 99,
    ...(setting.arms && { arms: { terms: async () => setting.arms, record: () => {} } }),
    memory: {
      place: () => null,
      confirm: (position: number) => void noted.push(`confirm ${position}`),
    },
    rewrites: {
      ...(setting.waitMs !== undefined && { waits: waitsOf(setting.waitMs) }),
      ...(setting.lookAhead && { lookAhead: setting.lookAhead }),
      decide: setting.decide ?? (async () => ({ found: {}, differs: false, others: 'left' })),
      async record(tenant: string, records: { key: string }[]) {
        noted.push(`record ${tenant} ${records.map(({ key }) => key)}`)
        return setting.before ?? new Map()
      },
    },
  } as unknown as Rewriting
  const needs = {
    pool: { run },
    metrics: {
      report: () => {},
      job: (op: string, queue: number, work: number) =>
        void noted.push(`job ${op} ${queue} ${work}`),
      proxy: {
        untouched: (vendor: string, reason: string) =>
          void noted.push(`untouched ${vendor} ${reason}`),
        rewrite: (vendor: string, report: unknown) =>
          void noted.push(`rewrite ${vendor} ${isDeepStrictEqual(report, REPORT)}`),
        unrecorded: () => void noted.push('unrecorded'),
        promptChange: (vendor: string, { kind }: { kind: string }) =>
          void noted.push(`change ${vendor} ${kind}`),
      },
    },
    savings: {
      recordResults: async (tenant: string, sent: Promise<SentRequest>) => {
        noted.push(`results ${tenant} ${JSON.stringify((await sent).report.fresh)}`)
      },
    },
    warnings: { changed: (tenant: string) => void noted.push(`warning ${tenant}`) },
    logger: { error: (fields: unknown) => void logged.push(fields) },
    originals: {
      async keep(tenant: string, text: { bytes: Uint8Array }) {
        noted.push(`keep ${tenant}`)
        setting.kept?.(new TextDecoder().decode(text.bytes))
      },
      async renew(tenant: string, markers: readonly string[]) {
        if (markers.length > 0) noted.push(`renew ${tenant} ${markers}`)
        const stays = renewed.shift() ?? true
        return typeof stays === 'string' ? stays : stays ? 'stay' : 'gone'
      },
    },
    book: { result: ({ tenant }: { tenant: string }) => void noted.push(`book ${tenant}`) },
  } as unknown as Parameters<typeof runRewrite>[3]
  const outgoing = { destroyed: false }
  const rewritten = await inContext(
    {},
    c => {
      c.set('state', state)
      return runRewrite(c, setting.body ?? BODY, rewriting, needs)
    },
    { outgoing: outgoing as never },
  )
  await rewritten.recorded
  const terms = jobs.map(job => {
    const { newUntil: _, ...others } = job.terms as RequestTerms
    return others
  })
  return { rewritten, jobs, noted, logged, state, terms, outgoing }
}

const leaves = (body: Uint8Array) => new TextDecoder().decode(body)

describe('a body whose unit may be held out', () => {
  test('tells the worker that the upstream may forget', async () => {
    const { jobs } = await rewrite([done()], { body: { ...BODY, forgets: true } })
    expect(jobs[0]!.terms).toMatchObject({ forgets: true })
    const other = await rewrite([done()])
    expect(other.jobs[0]!.terms).not.toHaveProperty('forgets')
  })

  test('has nothing new rewritten while that is not known', async () => {
    const { jobs } = await rewrite([done()], { arms: 'unknown' })
    expect(jobs[0]).toMatchObject({ isPaused: true })
    expect(jobs[0]!.terms).not.toHaveProperty('arms')
    const known = await rewrite([done()], { arms: { holdout: 0.5 } })
    expect(known.jobs[0]).not.toHaveProperty('isPaused')
    expect(known.jobs[0]!.terms).toMatchObject({ arms: { holdout: 0.5 } })
    const entry = { job: jobs[0], kind: 'short', phase: 'whole' } as unknown as Entry
    expect(messageOf([entry], 0).jobs[0]).toMatchObject({ isPaused: true })
  })
})

describe('the memory of bodies', () => {
  const large = () => bytes('x'.repeat(100_000))

  test('is given up for the client’s body once another one leaves', async () => {
    const body = large()
    const free = () => {}
    const { rewritten } = await rewrite([done({ free })], { body: { ...BODY, body } })
    expect(body.length).toBe(0)
    expect(rewritten.free).toBe(free)
  })

  test('is given up for a body that leaves unchanged, but only after it has left', async () => {
    const body = large()
    const unchanged = done({ body: new Uint8Array(0) })
    const { rewritten } = await rewrite([unchanged], { body: { ...BODY, body } })
    expect(rewritten.body).toHaveLength(100_000)
    rewritten.free?.()
    expect(body.length).toBe(0)
  })

  test('is not given up for an answer that shares it with other jobs', async () => {
    const { rewritten } = await rewrite([done()])
    expect(rewritten).not.toHaveProperty('free')
  })

  test('is not given up if the rewrite failed', async () => {
    const body = large()
    const { rewritten } = await rewrite([new Error('a bug')], { body: { ...BODY, body } })
    expect(rewritten.body).toHaveLength(100_000)
    expect(rewritten).not.toHaveProperty('free')
  })
})

describe('a body that a worker rewrites', () => {
  test('is reported with what changed before it, which only the first run sees', async () => {
    const also = [{ kind: 'date', place: 'system', at: 9 }]
    const change = { kind: 'uuid', place: 'system', at: 1, scope: 'key', also }
    const reports = [{ op: 'rewrite', rewrite: { ...REPORT, head_change: change } }]
    const first = done({ reports, markers: ['a'] })
    const { jobs, noted } = await rewrite([first, done()], { renewed: [false, true] })
    expect(jobs).toHaveLength(2)
    expect(noted.filter(each => /^(change|warning)/.test(each))).toEqual([
      'warning t',
      'change openai uuid',
      'warning t',
      'change openai date',
    ])
  })

  test('has decisions looked up that its thread is about to make', async () => {
    const looked: string[] = []
    const look = (keys: readonly string[]) => void looked.push(...keys)
    const lookAhead = (tenant: string) => {
      looked.push(tenant)
      return { look, find: () => undefined }
    }
    const { jobs } = await rewrite([done()], { lookAhead })
    jobs[0]!.onKeysAhead?.(['a', 'b'])
    expect(looked).toEqual(['t', 'a', 'b'])
  })

  test('has its results counted that no other request recorded first', async () => {
    const fresh = { tokenizer: 'x', count: 2, before: 30, after: 20 }
    const results = [
      { op: 'rewrite', recordKey: 'a', row: rowTaking(10, 8) },
      { op: 'rewrite', recordKey: 'b', row: rowTaking(20, 12) },
    ]
    const records = ['a', 'b'].map(key => ({ key, bytes: bytes(''), position: null }))
    const reports = [{ op: 'rewrite', rewrite: { ...REPORT, fresh } }, ...results]
    const counted = async (before: RecordedBefore) => {
      const { noted } = await rewrite([done({ reports, records })], { before })
      return noted.filter(each => each.startsWith('results'))
    }
    expect(await counted(new Map())).toEqual([`results t ${JSON.stringify(fresh)}`])
    const left = { tokenizer: 'x', count: 1, before: 10, after: 8 }
    expect(await counted(new Map([['b', 'same']]))).toEqual([`results t ${JSON.stringify(left)}`])
    const all = new Map([['a', 'other'] as const, ['b', 'same'] as const])
    expect(await counted(all)).toEqual(['results t undefined'])
  })

  test('leaves smaller, on record, and reported', async () => {
    const records = [
      { key: 'a', bytes: bytes(''), position: 3 },
      { key: 'b', bytes: bytes(''), position: null },
      { key: 'c', bytes: bytes(''), position: 5 },
    ]
    const before = new Map([['c', 'other']] as const)
    const { rewritten, jobs, noted, state, outgoing } = await rewrite([done({ records })], {
      before,
    })
    expect([leaves(rewritten.body), rewritten.report]).toEqual(['smaller', REPORT])
    expect(noted.slice(1)).toEqual(['rewrite openai true', 'book t', 'record t a,b,c', 'confirm 3'])
    expect(noted[0]).toMatch(/^job .* 1 2$/)
    expect(state.timing).toEqual({ queue: 1, work: 2 })
    expect(jobs).toMatchObject([
      {
        tenant: 't',
        media: 'json',
        accept: 'json',
        body: BODY.body,
        retained: true,
        requestId: 'r',
        limitMs: 48_000,
        recalled: {},
        terms: { redeems: true, bypass: false },
      },
    ])
    expect(jobs[0]?.terms).not.toHaveProperty('compressed')
    // Asked before it gets a thread.
    expect(jobs[0]?.abandoned?.()).toBe(false)
    outgoing.destroyed = true
    expect(jobs[0]?.abandoned?.()).toBe(true)
  })

  test('that is compressed is unpacked there, up to the limit', async () => {
    const { terms } = await rewrite([done()], { body: { ...BODY, coding: 'gzip' } })
    expect(terms).toEqual([
      { redeems: true, bypass: false, compressed: { coding: 'gzip', maxBytes: 99 } },
    ])
  })

  test('and finds nothing to change leaves as it was sent, with its report', async () => {
    const { rewritten } = await rewrite([done({ body: new Uint8Array() })])
    expect([leaves(rewritten.body), rewritten.report]).toEqual(['as sent', REPORT])
  })
})

describe('a body leaves as it was sent', () => {
  const failed = (code: 'overloaded' | 'internal'): JobResult => {
    return { ok: false, queue_ms: 1, work_ms: 2, problem: { code, detail: '' } }
  }

  test.each([
    ['overloaded', 'overloaded', 1],
    ['internal', 'failed', 2],
  ] as const)('if the job fails with %s', async (code, reason, passes) => {
    const { rewritten, noted } = await rewrite([failed(code), failed(code)])
    expect(rewritten).toEqual({ body: BODY.body, untouched: reason })
    expect(noted.slice(passes)).toEqual([`untouched openai ${reason}`])
  })

  test.each([
    ['is no request of its endpoint', [{ op: 'x', rewrite: { ...REPORT, readable: false } }]],
    ['has no report', [{ op: 'x' }]],
  ])('if it %s', async (_, reports) => {
    const { rewritten, noted } = await rewrite([done({ reports })])
    expect(rewritten).toEqual({ body: BODY.body, untouched: 'unreadable' })
    expect(noted.slice(1)).toEqual(['untouched openai unreadable'])
  })

  test('if it takes too long: the job is given up', async () => {
    const { rewritten, noted, jobs } = await rewrite([null], { timeoutMs: 1 })
    expect(rewritten).toEqual({ body: BODY.body, untouched: 'failed' })
    expect(noted).toEqual(['untouched openai failed'])
    expect(jobs.map(job => job.abandoned?.())).toEqual([true, true])
  })

  test('if there is a bug, which is logged', async () => {
    const bug = new TypeError('a bug')
    const { rewritten, noted, logged } = await rewrite([bug])
    expect(rewritten).toEqual({ body: BODY.body, untouched: 'failed' })
    expect(noted).toEqual(['untouched openai failed'])
    expect(logged).toEqual([{ requestId: 'r', err: bug }])
  })
})

describe('a body for which there is no time', () => {
  const newUntil = (job: Job | undefined) => job?.terms?.newUntil

  test('leaves by the records alone, and the first pass is given up', async () => {
    const { rewritten, jobs } = await rewrite([null, done({ body: bytes('as recorded') })], {
      timeoutMs: 500,
    })
    expect(leaves(rewritten.body)).toBe('as recorded')
    expect(rewritten.untouched).toBeUndefined()
    expect(jobs[0]?.abandoned?.()).toBe(true)
    expect(jobs[1]?.abandoned?.()).toBe(false)
    expect(newUntil(jobs[0])).toBeGreaterThan(0)
    expect(newUntil(jobs[1])).toBe(0)
  })

  test('waits six times as long for what is recorded, and holds a thread no longer', async () => {
    const began = performance.now()
    const { rewritten, jobs } = await rewrite([null, null], { timeoutMs: 50 })
    expect(rewritten.untouched).toBe('failed')
    expect(performance.now() - began).toBeGreaterThan(290)
    expect(jobs.map(({ limitMs }) => limitMs)).toEqual([40, 50])
  })

  test('waits for records in either pass, and no longer than the pass lasts', async () => {
    const waited: WaitBounds[] = []
    const { rewritten, noted } = await rewrite([done(), done({ body: bytes('as recorded') })], {
      timeoutMs: 500,
      async decide(_tenant, _records, _asked, bounds) {
        waited.push(bounds!)
        const isFirst = waited.length === 1
        if (isFirst) await eventually(() => expect(bounds!.isOver()).toBe(true))
        return { found: {}, differs: false, others: isFirst ? 'unheard' : 'recorded' }
      },
    })
    expect(leaves(rewritten.body)).toBe('as recorded')
    // The turn was recorded after all.
    expect(noted).not.toContain('unrecorded')
    const [first, second] = waited
    expect(second!.isOver()).toBe(false)
    expect(second!.untilMs - first!.untilMs).toBeGreaterThan(1_000)
  })

  test('does the same if a worker fails at what is new', async () => {
    const problem = { code: 'internal', detail: 'lost' } as const
    const lost = { ok: false, problem, queue_ms: 0, work_ms: 0 } as const
    const { rewritten, jobs } = await rewrite([lost, done({ body: bytes('as recorded') })])
    expect(leaves(rewritten.body)).toBe('as recorded')
    expect(newUntil(jobs[1])).toBe(0)
  })
})

describe('originals of markers', () => {
  const marked = (body: string) =>
    done({
      body: bytes(body),
      markers: ['f'],
      keep: [{ bytes: bytes('text'), media_type: 'x' }] as never,
    })
  const ELIDING = { redeems: true, bypass: false }
  const LOSSLESS = { redeems: false, bypass: false }

  test('are asked for again while a shared store is not heard', async () => {
    const waiting = { renewed: ['unheard', 'unheard'] as const, waitMs: 600_000 }
    const { rewritten, jobs } = await rewrite([marked('one')], waiting)
    expect([leaves(rewritten.body), jobs.length]).toEqual(['one', 1])
  })

  test('are left out for one turn, and not for all, if a shared store stays unheard', async () => {
    const earlier = { key: 'a', bytes: bytes(''), position: null, isEarlier: true } as const
    const fresh = { key: 'b', bytes: bytes(''), position: null } as const
    const whole = done({ records: [earlier, fresh] })
    const setting = { renewed: ['unheard'] as const, waitMs: 0 }
    const { jobs, noted, terms } = await rewrite([marked('one'), whole], setting)
    expect(terms).toEqual([
      { redeems: true, bypass: false },
      { redeems: false, bypass: false },
    ])
    expect(jobs[1]!.recalled).toEqual({})
    // What others repeat stays recorded, and what is new is not.
    expect(noted).toContain('record t b')
  })

  test('are kept and renewed before it leaves', async () => {
    const { rewritten, noted } = await rewrite([marked('one')])
    expect(leaves(rewritten.body)).toBe('one')
    expect(noted.slice(1, 3)).toEqual(['renew t f', 'keep t'])
  })

  test('that are not there are restored from the request, or not made', async () => {
    const restored = await rewrite([marked('one'), marked('two')], { renewed: [false, true] })
    expect(leaves(restored.rewritten.body)).toBe('two')
    expect(restored.terms).toEqual([ELIDING, { ...ELIDING, restores: true }])
    const none = await rewrite([marked('one'), marked('two'), done()], { renewed: [false, false] })
    expect(leaves(none.rewritten.body)).toBe('smaller')
    expect(none.terms[2]).toEqual(LOSSLESS)
  })

  test('that cannot be kept are not made; a bug there leaves it as it was sent', async () => {
    const full = () => {
      throw new AppError('overloaded', 'full')
    }
    const { rewritten, terms } = await rewrite([marked('one'), marked('two'), done()], {
      kept: full,
    })
    expect([leaves(rewritten.body), terms.length]).toEqual(['smaller', 3])
    const broken = () => {
      throw new TypeError('a bug')
    }
    const { rewritten: sent, logged } = await rewrite([marked('one')], { kept: broken })
    expect([sent, logged.length]).toEqual([{ body: BODY.body, untouched: 'failed' }, 1])
  })

  test('a job that fails has none', async () => {
    const problem = { code: 'internal', detail: '' } as const
    const lost = { ok: false, queue_ms: 1, work_ms: 2, problem } as const
    const { terms } = await rewrite([lost, lost], { renewed: [false] })
    expect(terms).toEqual([ELIDING, ELIDING])
  })
})
