import { describe, expect, it } from 'vitest'
import type { RequestTerms } from '../../../../../src/core/contract/request-terms.ts'
import { CachingAgent, type Style } from '../../../../support/caching/agent.ts'
import { recordingProxy } from '../../../../support/recording-proxy.ts'

const PINGS = { cache_life: { pings: 2 } }
const TERMS: RequestTerms = {
  ...{ redeems: true, bypass: false, paysByToken: true, hourKinds: [] },
  placesAt: 'api.anthropic.com',
}

function agentIn(style: Style = 'last'): CachingAgent {
  const agent = new CachingAgent('a', style)
  agent.head.system += 'Take care. '.repeat(12_000)
  delete agent.head.settings['thinking']
  return agent
}

function sendOf(pipeline: object, terms: object = {}) {
  const proxy = recordingProxy(pipeline, { terms: { ...TERMS, ...terms } })
  return (body: object) => proxy.send(body)
}

describe('what a ping needs of a request', () => {
  it('is where it says how many tokens it asks for, and whether it streams, as it is sent', () => {
    const send = sendOf({ cache_life: { pings: 1, place: true }, steering: { verbosity: 'terse' } })
    const agent = agentIn('none')
    for (let turn = 0; turn < 3; turn++) {
      if (turn > 0) agent.step(2)
      const { messages, ...head } = agent.body()
      const { bytes, report } = send({ ...head, messages, stream: true, max_tokens: 321 })
      const { ping } = report
      const at = ({ start, end }: { start: number; end: number }) =>
        Buffer.from(bytes).toString('utf8', start, end)
      expect([ping!.most, ping!.budget, at(ping!.maxTokens), at(ping!.stream!)]).toEqual([
        1,
        0.05,
        '321',
        'true',
      ])
    }
  })

  it.each([
    ['none are asked for', {}, {}, {}],
    ['its key may be a subscription’s', PINGS, { paysByToken: undefined }, {}],
    ['they were a loss', PINGS, { hourKinds: undefined }, {}],
    ['its host only offers the same API', PINGS, { placesAt: 'us.services.ai.azure.com' }, {}],
    ['its calls are answered, so that clearing is in force', PINGS, { addsTool: true }, {}],
    ['it thinks within a budget', PINGS, {}, { thinking: { type: 'enabled' } }],
    ['it asks for a form', PINGS, {}, { output_config: { format: { type: 'json_schema' } } }],
    ['it asks for a form by its old name', PINGS, {}, { output_format: { type: 'json_schema' } }],
    ['a tool is forced', PINGS, {}, { tool_choice: { type: 'any' } }],
    ['one tool is forced', PINGS, {}, { tool_choice: { type: 'tool', name: 'read' } }],
    ['it names a life', PINGS, {}, { cache_control: { type: 'ephemeral', ttl: '1h' } }],
    ['it is long by our doing', { cache_life: { pings: 2, life: '1h' } }, {}, {}],
  ])('is nothing if %s', (_, pipeline, terms, more) => {
    const body = { ...agentIn().body(), ...more }
    expect(sendOf(PINGS)(agentIn().body()).report.ping).toBeDefined()
    expect(sendOf(pipeline, terms)(body).report.ping).toBeUndefined()
  })

  it('is nothing for a short request, nor for one that asks for tokens twice', () => {
    expect(sendOf(PINGS)(new CachingAgent('a', 'last').body()).report.ping).toBeUndefined()
    const twice = JSON.stringify(agentIn().body()).replace('{', '{"max_tokens":7,')
    const proxy = recordingProxy(PINGS, { terms: TERMS })
    expect(proxy.send(twice).report.ping).toBeUndefined()
  })
})
