import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RequestTerms } from '../../../../../src/core/contract/request-terms.ts'
import { kindOf } from '../../../../../src/core/conversation/prefix/longer-life.ts'
import { withoutPlaced } from '../../../../../src/core/conversation/prefix/place-breakpoint.ts'
import { CachingAgent, STYLES, type Style } from '../../../../support/caching/agent.ts'
import { CachingVendor } from '../../../../support/caching/vendor.ts'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'
import { runs } from '../../../../support/runs.ts'

const HOUR = { cache_life: { life: '1h' } }
const TERMS: RequestTerms = {
  ...{ redeems: true, bypass: false, paysByToken: true, placesAt: 'api.anthropic.com' },
  cacheLives: [{ seconds: 300 }],
}

function proxyWith(pipeline: object, terms: Partial<RequestTerms> = {}, store: Store = new Map()) {
  const clock = { now: 1_800_000_000_000 }
  const options = { store, terms: { ...TERMS, ...terms }, now: () => clock.now }
  return { ...recordingProxy({ ...pipeline }, options), clock }
}

/** Lives that a text names, and breakpoints in all. */
function livesIn(text: string) {
  const all = text.match(/"cache_control":\{"type":"ephemeral"(?:,"ttl":"1h")?\}/g) ?? []
  return { all: all.length, long: all.filter(each => each.includes('1h')).length }
}

/** The kind of all agents here. */
const KIND = kindOf({ tools: ['list', 'read'] })

/** An agent whose prompt is large enough, with a turn behind it. */
function agentIn(style: Style): CachingAgent {
  const agent = new CachingAgent('a', style)
  agent.head.system += 'Take care. '.repeat(2_000)
  return agent
}

describe('a longer life', () => {
  it('is asked for at every breakpoint of a conversation, and nothing else changes', () => {
    const proxy = proxyWith(HOUR)
    const agent = agentIn('system and last two')
    for (let turn = 0; turn < 3; turn++) {
      if (turn > 0) agent.step(1)
      const { bytes, report } = proxy.send(agent.body())
      const text = Buffer.from(bytes).toString()
      const { all, long } = livesIn(text)
      expect([all, long]).toEqual([turn === 0 ? 2 : 3, all])
      expect(report.levers).toEqual(['life'])
      expect(report.print?.life_ms).toBe(3_600_000)
      const plain = proxyWith({})
      expect(Buffer.from(withoutPlaced(bytes)).toString()).toBe(plain.text(agent.body()))
    }
  })

  it('is that of a breakpoint that is placed, and of one after the tools', () => {
    const proxy = proxyWith({
      cache_life: { life: '1h', place: true },
      cache_align: { normalise: true },
    })
    const agent = agentIn('none')
    proxy.send(agent.body())
    agent.step(1)
    expect(livesIn(proxy.text(agent.body()))).toEqual({ all: 2, long: 2 })
  })

  it.each([
    ['names a life', 'one hour for the system', HOUR, {}],
    ['has no breakpoint', 'none', HOUR, {}],
    ['may be of a subscription', 'last', HOUR, { paysByToken: undefined }],
    ['goes elsewhere', 'last', HOUR, { placesAt: 'gateway.example' }],
    ['asks for nothing', 'last', {}, {}],
    ['has calls that we answer, so that clearing is in force', 'last', HOUR, { addsTool: true }],
    [
      'is of a kind that gains nothing',
      'last',
      { cache_life: { life: 'auto', budget: 0 } },
      { hourKinds: [1] },
    ],
    [
      'is the first of a conversation that a budget guards',
      'last',
      { cache_life: { life: 'auto' } },
      { hourKinds: [KIND] },
    ],
    ['has no account', 'last', { cache_life: { life: 'auto', budget: 0.5 } }, {}],
  ] as const)('is not asked for if a request %s', (_, style, pipeline, terms) => {
    const proxy = proxyWith(pipeline, terms as Partial<RequestTerms>)
    const agent = agentIn(style)
    const own = livesIn(JSON.stringify(agent.body()))
    expect(livesIn(proxy.text(agent.body()))).toEqual(own)
  })

  it('is not asked for after a request that named a life', () => {
    const proxy = proxyWith(HOUR)
    proxy.send(agentIn('one hour for the system').body())
    const agent = agentIn('last')
    agent.step(1)
    expect(livesIn(proxy.text(agent.body())).long).toBe(0)
  })

  it('is not asked for in a short request, nor beside what may be no breakpoint', () => {
    const proxy = proxyWith(HOUR)
    const short = new CachingAgent('b', 'last')
    short.head.system = 'Be brief.'
    expect(livesIn(proxy.text(short.body())).long).toBe(0)
    const agent = agentIn('last')
    const call = { type: 'tool_use', id: '1', name: 'read', input: { cache_control: {} } }
    agent.messages.push({ role: 'assistant', content: [call] })
    agent.messages.push({ role: 'user', content: 'On.' })
    expect(livesIn(proxy.text(agent.body())).long).toBe(0)
  })

  it('is the conversation’s from its first request on, in every process', () => {
    const store: Store = new Map()
    const [agent, other] = [agentIn('last'), agentIn('top')]
    other.messages[0]!.content = 'Another task.'
    proxyWith({}, {}, store).send(agent.body())
    proxyWith(HOUR, {}, store).send(other.body())
    agent.step(1)
    other.step(1)
    expect(livesIn(proxyWith(HOUR, {}, store).text(agent.body())).long).toBe(0)
    expect(livesIn(proxyWith({}, {}, store).text(other.body())).long).toBe(1)
  })

  it('is decided by earlier conversations of its kind if there is no budget', () => {
    const auto = { cache_life: { life: 'auto', budget: 0 } }
    const proxy = proxyWith(auto, { hourKinds: [1, KIND] })
    expect(livesIn(proxy.text(agentIn('last').body())).long).toBe(1)
  })

  it('begins at a cold write within the budget, is recorded, and ends beyond it', () => {
    const store: Store = new Map()
    const guarded = { cache_life: { life: 'auto', budget: 0.25 } }
    const proxy = proxyWith(guarded, { hourKinds: [] }, store)
    const agent = agentIn('last')
    const long = (pauseMs: number) => {
      proxy.clock.now += pauseMs
      agent.step(1)
      return livesIn(proxy.text(agent.body())).long
    }
    expect(livesIn(proxy.text(agent.body())).long).toBe(0)
    // The second prompt is written again: 0.75 of it is more than a quarter of what was spent.
    expect(long(600_000)).toBe(0)
    for (let turn = 0; turn < 12; turn++) expect(long(1_000)).toBe(0)
    expect(long(299_000)).toBe(0)
    expect(long(301_000)).toBe(1)
    expect(long(1_000)).toBe(1)
    // Sent again, it is the same turn.
    expect(livesIn(proxy.text(agent.body())).long).toBe(1)
    agent.step(1)
    const later = proxyWith(guarded, { hourKinds: [] }, store)
    expect(livesIn(later.text(agent.body())).long).toBe(1)
    // Within the hour little is written. After it all is, beyond the budget.
    expect(long(3_599_000)).toBe(1)
    expect(long(3_601_000)).toBe(0)
    expect(long(1_000)).toBe(0)
    // Meanwhile more was spent.
    expect(long(301_000)).toBe(1)
  })

  it('is asked of the records only if another process may have begun it', () => {
    const guarded = { cache_life: { life: 'auto', budget: 0.25 } }
    const store: Store = new Map()
    const [one, other] = [1, 2].map(() => proxyWith(guarded, { hourKinds: [] }, store))
    const agent = agentIn('last')
    const asks = (proxy: typeof one) => {
      agent.step(1)
      return proxy!.send(agent.body()).records.filter(({ isQuestion }) => isQuestion === true)
        .length
    }
    one!.send(agent.body())
    expect([one, one, other, other, one, one].map(asks)).toEqual([0, 0, 1, 0, 1, 0])
  })

  it('never stands behind a shorter one, and never makes a fifth breakpoint', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(
        fc.constantFrom(...STYLES),
        fc.record({
          life: fc.constantFrom('1h', 'auto'),
          budget: fc.constantFrom(0, 0.05, 0.5),
          place: fc.boolean(),
        }),
        fc.boolean(),
        pauses,
        (style, cache_life, normalise, seconds) => {
          const proxy = proxyWith({ cache_life, cache_align: { normalise } }, { hourKinds: [] })
          const vendor = new CachingVendor()
          const agent = agentIn(style)
          for (const pause of seconds) {
            const answer = vendor.ask(JSON.parse(proxy.text(agent.body())), proxy.clock.now)
            expect(answer.status).toBe(200)
            proxy.clock.now += 1_000 * pause
            agent.step(1)
          }
          expect(vendor.most).toBeLessThanOrEqual(4)
        },
      ),
      { numRuns: runs(100) },
    )
  })
})
