import { describe, expect, it } from 'vitest'
import { builtInPrices } from '../../../../../src/config/prices.ts'
import type { RequestTerms } from '../../../../../src/core/contract/request-terms.ts'
import { withoutPlaced } from '../../../../../src/core/conversation/prefix/place-breakpoint.ts'
import { cacheLivesOf } from '../../../../../src/core/conversation/usage/billing.ts'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'

const DAY = { cache_life: { openai: '24h' } }
const TERMS: RequestTerms = {
  ...{ redeems: false, bypass: false, paysByToken: true, placesAt: 'api.openai.com' },
  cacheLives: cacheLivesOf('openai', builtInPrices()),
}
const BODY = { model: 'gpt-5.1', messages: [{ role: 'user', content: 'Hello.' }] }
const ASKED = '{"prompt_cache_retention":"24h",'

function send(body: object, pipeline: object = DAY, terms: object = {}, store: Store = new Map()) {
  const options = { route: 'openai_chat', store, terms: { ...TERMS, ...terms } } as const
  return recordingProxy(pipeline, options).send(body)
}

describe('prompts that OpenAI keeps for a day', () => {
  it('are asked for in each request of a conversation, and nothing else changes', () => {
    const store: Store = new Map()
    const later = [...BODY.messages, { role: 'assistant', content: 'Hi.' }, BODY.messages[0]!]
    for (const body of [BODY, { ...BODY, messages: later }]) {
      const { bytes, report } = send(body, DAY, {}, store)
      const text = Buffer.from(bytes).toString()
      expect(text).toBe(JSON.stringify(body).replace('{', ASKED))
      expect([report.levers, report.print?.life_ms]).toEqual([['retention'], 86_400_000])
      expect(Buffer.from(withoutPlaced(bytes)).toString()).toBe(JSON.stringify(body))
    }
  })

  it.each([
    ['nothing is configured', {}, {}, {}],
    ['the key may be a login', DAY, { paysByToken: undefined }, {}],
    ['it goes elsewhere', DAY, { placesAt: 'openrouter.ai' }, {}],
    ['writing costs more', DAY, {}, { model: 'gpt-5.6' }],
    ['the model is not known', DAY, {}, { model: 'gpt-99' }],
    ['the client names one', DAY, {}, { prompt_cache_retention: 'in_memory' }],
    ['the client has options', DAY, {}, { prompt_cache_options: { ttl: '30m' } }],
  ])('are not asked for if %s', (_, pipeline, terms, more) => {
    const body = { ...BODY, ...more }
    expect(Buffer.from(send(body, pipeline, terms).bytes).toString()).toBe(JSON.stringify(body))
  })
})
