import { describe, expect, it } from 'vitest'
import { offerFacts } from '../../../src/book/events/offer-facts.ts'
import { parseEventLine } from '../../../src/core/telemetry/parse-line.ts'
import { createPseudonyms } from '../../../src/core/telemetry/pseudonyms.ts'
import { createOfferEvents } from '../../../src/service/book/offer-events.ts'
import { connectMemory, MemoryServer, textResult } from '../../support/mcp/memory-gateway.ts'

const KEY = new Uint8Array(32)
const READS = { annotations: { readOnlyHint: true, openWorldHint: false } }
const TOOLS = ['list', 'get'].map(name => ({ name, inputSchema: { type: 'object' }, ...READS }))
const LINK = { tool: 'get', probability: 1, projection: 'id', projection_arg: 'id' }

/** What is written of a gateway's offers, of the ids `a` and `b`. */
async function setUp(budgetTokens: number) {
  const server = new MemoryServer('one', TOOLS, true)
  server.handler = ({ tool }) =>
    textResult(tool === 'list' ? JSON.stringify([{ id: 'a' }, { id: 'b' }]) : 'found '.repeat(100))
  const events: unknown[] = []
  const head = { schema_version: 1, ts_ms: 1, sample_rate_applied: 1 }
  const offer: Parameters<typeof createOfferEvents>[0]['offer'] = arrived => {
    const facts = offerFacts(arrived, createPseudonyms(KEY, arrived.tenant))
    const parsed = parseEventLine(JSON.stringify({ ...head, ...facts }))
    events.push(parsed.ok ? parsed.value : parsed)
  }
  const tools = { list: { follow_up: [LINK] } }
  const write = createOfferEvents({ offer })
  const observer: typeof write = event => {
    if (event.kind === 'decided') write(event)
  }
  const settings = { budgetTokens }
  return { events, ...(await connectMemory([server], { tools, observer, settings })) }
}

const IN_CONTEXT = { context: 'agent' }

// Contract, section 9; SOURCES.md#planner, the four fields of `PipelineEvent`.
describe('an offered call', () => {
  it('that was made ahead has an event, with whether the agent made it', async () => {
    const { events, call, settled } = await setUp(8_000)
    await call('list', {}, IN_CONTEXT)
    await settled()
    await call('get', { id: 'a' }, IN_CONTEXT)
    const name = createPseudonyms(KEY, 't').tool('mcp__one__get')
    const of = {
      session_hash: createPseudonyms(KEY, 't').session('agent'),
      ...{ tool_name_anon: name, endpoint_class: name, enricher_prefetched: true },
      ...{ tokens_baseline: 600, tokens_final: 600 },
    }
    expect(events).toMatchObject([{ ...of, cited_in_next_n_turns: true, enricher_served: true }])
    await call('get', { id: 'x' }, IN_CONTEXT)
    await call('get', { id: 'y' }, IN_CONTEXT)
    expect(events.slice(1)).toMatchObject([
      { ...of, cited_in_next_n_turns: false, enricher_served: false },
    ])
    const [first, second] = events as { content_sha_prefix: string }[]
    expect(first?.content_sha_prefix).not.toBe(second?.content_sha_prefix)
  })

  it('that was declined has one with the reason', async () => {
    const { events, call, settled } = await setUp(1)
    await call('list', {}, IN_CONTEXT)
    await settled()
    await call('get', { id: 'b' }, IN_CONTEXT)
    expect(events).toMatchObject([
      { enricher_decline_reason: 'budget', cited_in_next_n_turns: true, tokens_baseline: 0 },
    ])
    expect(events[0]).not.toHaveProperty('enricher_prefetched')
    expect(events[0]).not.toHaveProperty('enricher_served')
  })
})
