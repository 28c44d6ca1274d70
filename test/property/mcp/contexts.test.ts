import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../../../src/core/base/errors.ts'
import type { ResultPlace } from '../../../src/core/contract/request-terms.ts'
import { packResultOperation } from '../../../src/core/operations/pack-result.ts'
import {
  decodeReferences,
  referencesIn,
} from '../../../src/core/sessions/turn/decode-references.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../../src/core/sessions/turn/shared-sessions.ts'
import { createContexts } from '../../../src/mcp/client/contexts/contexts.ts'
import { createPacker } from '../../../src/mcp/results/pack.ts'
import type { Done } from '../../../src/pool/job.ts'
import type { Kept } from '../../../src/store/store.ts'
import { localContext } from '../../support/local-context.ts'
import { leastHits, runs } from '../../support/runs.ts'

const CONTEXTS = ['x', 'y', null] as const
const NOW_MS = 1e12
const TENANTS = ['t', 'u'] as const
type Tenant = (typeof TENANTS)[number]

/** Texts of one line in common mostly, with one that may be edited. */
const page = (name: number, edit: number) =>
  Array.from({ length: 40 }, (_, i) => {
    const text = `${(name + 1) * 7919 * (i + 1)} words of line ${i} in page ${name};`
    return i === edit ? `${text}, edited` : text
  }).join('\n')

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('call'),
      tenant: fc.constantFrom(...TENANTS),
      context: fc.constantFrom('x', 'x', 'x', ...CONTEXTS),
      page: fc.nat(2),
      edit: fc.constantFrom(-1, -1, 7, 23),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('finish'),
      at: fc.nat(3),
      how: fc.constantFrom('sent', 'sent', 'sent', 'later', 'unsent', 'unkept'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('confirm'), hasLeft: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('compact', 'lose'),
      tenant: fc.constantFrom(...TENANTS),
      context: fc.constantFrom('x', 'y'),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** What one context knows, by the rules of the contract alone. */
interface Reader {
  calls: number
  /** What it was sent since it last lost anything, with the number of each call. */
  sent: { readonly text: string; readonly number: number }[]
  life: number
}

interface Call {
  readonly text: string
  readonly tenant: Tenant
  readonly context: string | null
  readonly place: ResultPlace | null
  readonly reader: Reader
  readonly number: number
  readonly life: number
}

const local = localContext()
const sha = (text: string) => hash('sha256', text, 'hex')

class Machine {
  readonly sessions = attachSessions(
    createSharedSessions({ maxSessions: 50, maxEntries: 500 }, 1 << 20),
    { owner: MAIN_OWNER },
  )
  readonly hits = { references: 0, lines: 0 }
  readonly #stamps = new Map<string, number>()
  readonly #readers = new Map<string, Reader>()
  readonly #running: Call[] = []
  readonly #unconfirmed: { readonly call: Call; resolve(hasLeft: boolean): void }[] = []
  readonly #kept = new Set<string>()
  #keeps = true
  #format = ''
  readonly #contexts = new Map(
    TENANTS.map(tenant => [
      tenant,
      createContexts({
        index: this.sessions.index,
        tenant,
        credential: null,
        compactions: {
          stampOf: context => String(this.#stamps.get(`${tenant} ${context}`) ?? 0),
        },
        now: () => NOW_MS,
      }),
    ]),
  )

  async do(next: Step): Promise<void> {
    switch (next.do) {
      case 'call':
        this.#call(next as Step & { do: 'call' })
        return
      case 'finish':
        return this.#finish(next as Step & { do: 'finish' })
      case 'confirm':
        return this.#confirm((next as { hasLeft: boolean }).hasLeft)
      default:
        this.#end(next as { do: string; tenant: Tenant; context: string })
    }
  }

  #call({ tenant, context, page: name, edit }: Step & { do: 'call' }): void {
    const reader = this.#readerOf(tenant, context)
    const place = context === null ? null : this.#contexts.get(tenant)!.arrive(context)
    const number = ++reader.calls
    const text = page(name, edit)
    this.#running.push({ text, tenant, context, place, reader, number, life: reader.life })
  }

  async #finish({ at, how }: Step & { do: 'finish' }): Promise<void> {
    const [call] = this.#running.splice(at % Math.max(1, this.#running.length), 1)
    if (call === undefined) return
    this.#keeps = how !== 'unkept'
    const answer = await this.#pack(call, how)
    this.#keeps = true
    this.#check(answer, call)
    if (how === 'sent' || how === 'unkept') this.#read(call)
  }

  async #pack(call: Call, how: string): Promise<string> {
    const { tenant, context, place, text } = call
    const pack = createPacker({
      pool: { run: async ({ body, terms }) => this.#run(body, tenant, terms) },
      originals: {
        keep: async (_, { bytes }) => {
          if (!this.#keeps) throw new AppError('overloaded', 'no room')
          this.#kept.add(hash('sha256', bytes, 'hex'))
          return {} as Kept
        },
        pinDependency: async (_, { identity }) => {
          if (!this.#kept.has(identity)) throw new AppError('not_found', 'not kept')
        },
      },
      sessions: this.sessions,
      tenant,
      timeoutMs: 1000,
      onReport: () => {},
      onBug: error => {
        throw error
      },
    })
    const result = Buffer.from(JSON.stringify({ content: [{ type: 'text', text }] }))
    const contexts = this.#contexts.get(tenant)!
    const packed = await pack(
      result,
      { tool: 'mcp__a__b', mode: 'lossless', structured: 'keep', ...(place && { place }) },
      'a',
      {
        isCurrent: () => context === null || place === null || contexts.isCurrent(context, place),
        hasLeft: () => {
          if (how !== 'later') return how !== 'unsent'
          return new Promise(resolve => this.#unconfirmed.push({ call, resolve }))
        },
      },
    )
    return JSON.parse(packed.toString()).content[0].text
  }

  #run(body: Uint8Array, tenant: string, terms: object | undefined): Done {
    const sessions = { ...this.sessions, tenant, nowMs: NOW_MS }
    const context = { ...local, keepsOriginals: true, sessions, ...(terms && { terms }) }
    const {
      bytes,
      reports,
      keep,
      dependencies = [],
    } = packResultOperation.run(body, context as never)
    this.#format = reports[0]?.row?.().sent.format ?? ''
    return {
      ...{ ok: true, media: 'json', records: [], markers: [], queue_ms: 0, work_ms: 0 },
      ...{ body: bytes ?? new Uint8Array(0), reports: [], keep, dependencies },
    }
  }

  /** An answer means what it should to a reader of nothing but what the context was sent. */
  #check(answer: string, { text, reader, number }: Call): void {
    if (answer === text) return
    const found = (ref: string) => reader.sent.find(each => sha(each.text).startsWith(ref))
    for (const ref of referencesIn(answer, this.#format)) {
      const earlier = found(ref)
      expect(earlier, `${ref} of what was sent`).toBeDefined()
      expect(earlier!.number).toBeLessThan(number)
    }
    expect(decodeReferences(answer, this.#format, ref => found(ref)?.text, 1e6)).toBe(text)
    for (const [, ref = '', ago = ''] of answer.matchAll(/ref ([0-9a-f]+) .*? (\d+) calls? ago/g)) {
      const all = reader.sent.filter(each => sha(each.text).startsWith(ref))
      expect(all.map(each => number - each.number)).toContain(Number(ago))
    }
    if (this.#format === 'ref@1') this.hits.references++
    else this.hits.lines++
  }

  #read({ reader, life, text, number }: Call): void {
    // What comes after a compaction is in the new context.
    if (reader.life === life) reader.sent.push({ text, number })
  }

  async #confirm(hasLeft: boolean): Promise<void> {
    const first = this.#unconfirmed.shift()
    if (first === undefined) return
    first.resolve(hasLeft)
    await new Promise(resolve => setImmediate(resolve))
    if (hasLeft) this.#read(first.call)
  }

  #end({ do: how, tenant, context }: { do: string; tenant: Tenant; context: string }): void {
    const place = `${tenant} ${context}`
    if (how === 'compact') this.#stamps.set(place, (this.#stamps.get(place) ?? 0) + 1)
    else this.#contexts.get(tenant)!.lost(context)
    this.#forget(this.#readerOf(tenant, context))
  }

  #forget(reader: Reader): void {
    reader.sent = []
    reader.life++
  }

  #readerOf(tenant: string, context: string | null): Reader {
    const name = `${tenant} ${context}`
    const known = this.#readers.get(name) ?? { calls: 0, sent: [], life: 0 }
    this.#readers.set(name, known)
    return known
  }
}

it('refers to nothing but what the same context was sent, and counts its calls', async () => {
  const hits = { references: 0, lines: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async steps => {
      const machine = new Machine()
      for (const each of steps) await machine.do(each)
      hits.references += machine.hits.references
      hits.lines += machine.hits.lines
    }),
    { numRuns: runs(500) },
  )
  expect(hits.references).toBeGreaterThanOrEqual(leastHits(runs(500) / 10))
  expect(hits.lines).toBeGreaterThanOrEqual(leastHits(runs(500) / 10))
}, 60_000)
