import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MissReason } from '../../../../src/book/bill/misses.ts'
import type { RequestRow } from '../../../../src/book/bill/request-row.ts'
import { createSavings, type Savings } from '../../../../src/book/bill/savings.ts'
import { builtInPrices } from '../../../../src/config/prices.ts'
import { cacheLivesOf } from '../../../../src/core/conversation/usage/billing.ts'
import { CachingAgent, STYLES } from '../../../support/caching/agent.ts'
import { type CacheUsage, CachingVendor } from '../../../support/caching/vendor.ts'
import {
  type RecordingProxy,
  recordingProxy,
  type Store,
} from '../../../support/recording-proxy.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { recordStore } from '../../../unit/book/bill/records.ts'

const PRICES = { currency: 'USD', builtIn: builtInPrices(), prices: [] }
const TERMS = {
  redeems: false,
  bypass: false,
  cacheLives: cacheLivesOf('anthropic', builtInPrices()),
} as const
const PLAIN = { mckp: { formats_enabled: [] }, hints: { types: { lines: { enabled: false } } } }

/** One replica after another on the same store, with the vendor behind them. */
class World {
  now = 1_800_000_000_000
  readonly vendor = new CachingVendor()
  readonly rows: RequestRow[] = []
  readonly #ledgers = recordStore().store
  #decisions: Store = new Map()
  #proxy: RecordingProxy
  #savings: Savings

  constructor(pipeline: object = {}) {
    this.#proxy = this.#rewriting(pipeline)
    this.#savings = this.#accounts()
  }

  /** The process ends, and another one begins. */
  async restart(pipeline: object = {}, keepsDecisions = true): Promise<void> {
    await this.#savings.close()
    if (!keepsDecisions) this.#decisions = new Map()
    this.#proxy = this.#rewriting(pipeline)
    this.#savings = this.#accounts()
  }

  close(): Promise<void> {
    return this.#savings.close()
  }

  /** Sends a request. Returns what the vendor says of it, and what we account for. */
  async send(body: object): Promise<{ usage: CacheUsage; row: RequestRow }> {
    const { bytes, report } = this.#proxy.send(body)
    const answer = this.vendor.ask(JSON.parse(Buffer.from(bytes).toString()), this.now, 900)
    if (answer.status !== 200) throw new Error(answer.message)
    const { usage } = answer
    const said = {
      model: 'claude-sonnet-4-5',
      usage: {
        uncached: usage.input_tokens,
        cache_read: usage.cache_read_input_tokens,
        cache_write: usage.cache_creation_input_tokens,
        cache_write_long: 0,
        output: usage.output_tokens,
      },
    }
    const answered = { vendor: 'anthropic', said, report, begunMs: 900 } as const
    await this.#savings.record('t', Promise.resolve(answered))
    return { usage, row: this.rows.at(-1)! }
  }

  #rewriting(pipeline: object): RecordingProxy {
    return recordingProxy(pipeline, { store: this.#decisions, now: () => this.now, terms: TERMS })
  }

  #accounts(): Savings {
    return createSavings({
      store: this.#ledgers,
      prices: () => PRICES,
      now: () => this.now,
      onRow: row => void this.rows.push(row),
      onUnsaved: () => {},
      onBug: bug => {
        throw bug
      },
      flushMs: 2 ** 31 - 1,
    })
  }
}

/** What makes the next request miss, by the reason that it must have. */
const CAUSES: Readonly<
  Record<MissReason, (agent: CachingAgent, world: World) => void | Promise<void>>
> = {
  idle: ({ style }, world) => {
    world.now += style === 'one hour' ? 3_700_000 : 400_000
  },
  own: (_, world) => world.restart(PLAIN, false),
  model: ({ head }) => {
    head.model = 'claude-opus-4-5'
  },
  tools: ({ head }) => {
    head.tools.reverse()
  },
  system: ({ head }) => {
    head.system = `${head.system} Today is 2026-11-28.`
  },
  first_message: ({ messages }) => {
    messages[0]!.content = `${messages[0]!.content as string} It is 10:00.`
  },
  settings: ({ head }) => {
    head.settings['tool_choice'] = { type: 'any' }
  },
  history: ({ messages }) => {
    const [first, ...others] = messages[2]!.content as Record<string, unknown>[]
    messages[2]!.content = [{ ...first, content: 'The result was removed.' }, ...others]
  },
  // So many calls come at once instead.
  blocks: () => {},
  provider: (_, world) => world.vendor.forget(),
}

const plans = fc.record({
  cause: fc.constantFrom(...(Object.keys(CAUSES) as MissReason[])),
  style: fc.constantFrom(...STYLES.filter(style => style !== 'none')),
  before: fc.integer({ min: 2, max: 4 }),
  after: fc.integer({ min: 1, max: 2 }),
  gapMs: fc.integer({ min: 1_000, max: 250_000 }),
  calls: fc.integer({ min: 1, max: 3 }),
  /** Steps before which the process ends. */
  restarts: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 2 }),
  retries: fc.boolean(),
})

let conversations = 0
let planted = 0

describe('the account of cache misses', () => {
  it('has each planted miss with its reason and tokens, and no other, across restarts', async () => {
    const property = fc.asyncProperty(plans, async plan => {
      const { cause, style, before, after, gapMs, calls, restarts, retries } = plan
      const world = new World()
      const agent = new CachingAgent(`c${conversations++}`, style)
      let cached = 0
      for (let step = 0; step <= before + after; step++) {
        const isPlanted = step === before
        if (step > 0) agent.step(isPlanted && cause === 'blocks' ? 15 : calls)
        // Records of the decisions are kept, so what leaves is the same.
        const mayRestart = cause !== 'own' || step < before
        if (restarts.includes(step) && mayRestart) await world.restart()
        if (isPlanted) await CAUSES[cause](agent, world)
        world.now += gapMs
        const { usage, row } = await world.send(agent.body())
        const read = usage.cache_read_input_tokens
        const prompt = read + usage.input_tokens + usage.cache_creation_input_tokens
        const lost = Math.min(cached, prompt) - read
        const isMiss = lost >= 1_024 && lost >= 0.05 * Math.min(cached, prompt)
        const { misses } = row.account
        if (!isMiss) expect(misses).toEqual({})
        else {
          planted++
          expect(isPlanted).toBe(true)
          expect(Object.keys(misses)).toEqual([cause])
          expect(misses[cause]).toMatchObject({ count: 1, tokens: lost })
          expect(misses[cause]!.cost).toBeCloseTo(lost * (1.25 - 0.1), 6)
        }
        cached = read + usage.cache_creation_input_tokens
        if (retries && !isPlanted) {
          const again = await world.send(agent.body())
          expect(again.row.account.misses).toEqual({})
          cached = again.usage.cache_read_input_tokens + again.usage.cache_creation_input_tokens
        }
      }
      await world.close()
    })
    await fc.assert(property, { numRuns: fewRuns(2_000, 8) })
    expect(planted).toBeGreaterThan(leastHits(0.6 * conversations))
  })
})
