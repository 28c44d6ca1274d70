import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutPlaced } from '../../../../../src/core/conversation/prefix/place-breakpoint.ts'
import { CachingAgent, type Style } from '../../../../support/caching/agent.ts'
import { CachingVendor } from '../../../../support/caching/vendor.ts'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'

const PLACING = { cache_life: { place: true } }
const LIVES = [{ seconds: 300 }]
const PLACED = '{"cache_control":{"type":"ephemeral"},"model"'

/** A proxy whose clock stands still until it is moved. */
function placing(
  pipeline: object = PLACING,
  { placesAt = 'api.anthropic.com', store = new Map() }: { placesAt?: string; store?: Store } = {},
) {
  const clock = { now: 1_800_000_000_000 }
  const terms = { redeems: false, bypass: false, cacheLives: LIVES, placesAt }
  const proxy = recordingProxy(pipeline, { store, terms, now: () => clock.now })
  return { ...proxy, clock }
}

const agentIn = (style: Style = 'none') => new CachingAgent('a', style)
const isPlaced = (text: string) => text.startsWith(PLACED)

describe('a cache breakpoint for a client that sets none', () => {
  it('is at the top from the second request on, and nothing else changes', () => {
    const proxy = placing()
    const agent = agentIn()
    expect(proxy.text(agent.body())).toBe(JSON.stringify(agent.body()))
    agent.step(1)
    const { bytes, report } = proxy.send(agent.body())
    expect(isPlaced(Buffer.from(bytes).toString())).toBe(true)
    expect(report.levers).toEqual(['place'])
    const plain = placing({})
    plain.send(agentIn().body())
    expect(Buffer.from(withoutPlaced(bytes)).toString()).toBe(plain.text(agent.body()))
  })

  it('is placed by another process too, and after the records of the first alone', () => {
    const store: Store = new Map()
    const agent = agentIn()
    placing(PLACING, { store }).send(agent.body())
    agent.step(1)
    expect(isPlaced(placing(PLACING, { store }).text(agent.body()))).toBe(true)
  })

  it('is never in a conversation that was under way, nor while it is off', () => {
    const store: Store = new Map()
    const agent = agentIn()
    placing({}, { store }).send(agent.body())
    agent.step(1)
    expect(isPlaced(placing(PLACING, { store }).text(agent.body()))).toBe(false)
    const other = agentIn()
    const off = placing({})
    off.send(other.body())
    other.step(1)
    expect(isPlaced(off.text(other.body()))).toBe(false)
  })

  it('is placed only while enough turns come within the life of the cache', () => {
    const proxy = placing()
    const agent = agentIn()
    proxy.send(agent.body())
    const turn = (pauseMs: number) => {
      proxy.clock.now += pauseMs
      agent.step(1)
      return isPlaced(proxy.text(agent.body()))
    }
    // (quick + 1) / (pauses + 2): 1/3, 2/4, 2/5, 2/6, 3/7, 4/8, 4/9, 4/10, 4/11
    const late = 301_000
    const pauses = [late, 299_000, late, late, 1_000, 1_000, late, late, late, 1_000]
    const placed = [false, true, true, false, true, true, true, true, false, true]
    expect(pauses.map(turn)).toEqual(placed)
    // A turn that is sent again is no other turn.
    proxy.clock.now += 600_000
    expect(isPlaced(proxy.text(agent.body()))).toBe(true)
  })

  it.each([
    ['api.anthropic.com', [], true],
    ['my-resource.services.ai.azure.com', [], true],
    ['europe-west1-aiplatform.googleapis.com', [], true],
    ['api.anthropic.com.evil.example', [], false],
    ['gateway.internal:8443', [], false],
    ['gateway.internal:8443', ['gateway.internal:8443'], true],
  ])('at %s with hosts %j: %s', (placesAt, hosts, expected) => {
    const proxy = placing({ cache_life: { place: true, hosts } }, { placesAt })
    const agent = agentIn()
    proxy.send(agent.body())
    agent.step(1)
    expect(isPlaced(proxy.text(agent.body()))).toBe(expected)
  })

  it('is not added to any of the client, and never makes a fifth', () => {
    const counts = fc.array(fc.constantFrom('system', 'tool', 'result', 'top'), { maxLength: 4 })
    fc.assert(
      fc.property(
        counts,
        fc.boolean(),
        fc.integer({ min: 1, max: 5 }),
        (marks, normalise, turns) => {
          const proxy = placing({ ...PLACING, cache_align: { normalise } })
          const vendor = new CachingVendor()
          const agent = agentIn()
          for (let turn = 0; turn < turns; turn++) {
            if (turn > 0) agent.step(1)
            const body = marked(agent.body(), turn % 2 === 0 ? marks : marks.slice(1))
            const sent = proxy.text(body)
            const own = JSON.stringify(body).includes('"cache_control"')
            if (own) expect(isPlaced(sent) && !JSON.stringify(body).startsWith(PLACED)).toBe(false)
            const asked = new CachingVendor().ask(body, 0)
            const answer = vendor.ask(JSON.parse(sent), proxy.clock.now)
            if (asked.status === 200) expect(answer.status).toBe(200)
          }
          expect(vendor.most).toBeLessThanOrEqual(4)
        },
      ),
    )
  })
})

/** A body with breakpoints of its client. */
function marked(body: ReturnType<CachingAgent['body']>, marks: readonly string[]) {
  const cache_control = { type: 'ephemeral' }
  const { tools, system, messages, ...others } = body
  const on = (mark: string) => (marks.includes(mark) ? { cache_control } : {})
  const last = messages.at(-1)!
  const isResult = typeof last.content !== 'string'
  const results = isResult
    ? (last.content as object[]).map((each, i) => (i === 0 ? { ...each, ...on('result') } : each))
    : last.content
  return {
    ...on('top'),
    ...others,
    tools: (tools as object[]).map((each, i) => (i === 0 ? { ...each, ...on('tool') } : each)),
    system: [{ type: 'text', text: system, ...on('system') }],
    messages: [...messages.slice(0, -1), { ...last, content: results }],
  }
}
