import { describe, expect, it } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { planningTerms } from '../../../src/service/ahead.ts'
import { testApp } from '../../support/app.ts'

/** What a service with this configuration answers. */
async function plan(config: object, request: object) {
  const live = { config: configSchema.parse(config) }
  const { app } = testApp({ planning: () => planningTerms(live.config) })
  const response = await app.request('/v1/plan', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  const answer = (await response.json()) as { readonly declined: readonly object[] }
  return { status: response.status, answer }
}

describe('POST /v1/plan', () => {
  const recent = [{ tool: 'Grep', result: 'src/a.ts:3:x' }]

  it('plans by the configuration in force', async () => {
    const { status, answer } = await plan({}, { recent })
    expect([status, answer]).toMatchObject([200, { calls: [{ tool: 'Read', probability: 0.35 }] }])
    const other = await plan({ tools: { Read: { speculate: false } } }, { recent })
    expect(other.answer.declined[0]).toMatchObject({ tool: 'Read', reason: 'not_speculatable' })
    const small = { prefetch_budget_tokens: 10 }
    const { declined } = (await plan({ enrichment: small }, { recent })).answer
    expect(declined.at(-1)).toMatchObject({ tool: 'Read', reason: 'budget' })
  })

  it('plans three files of any search by default', async () => {
    const hits = Array.from({ length: 40 }, (_, at) => `src/f${at}.ts:${at + 1}:x`)
    const calls = [
      { tool: 'Grep', result: hits.join('\n') },
      { tool: 'Glob', result: hits.map(hit => hit.split(':')[0]).join('\n') },
    ]
    for (const call of calls) {
      const { answer } = await plan({}, { recent: [call] })
      const read = (file: string) => ({ tool: 'Read', args: `{"file_path":"src/${file}.ts"}` })
      expect(answer).toMatchObject({ calls: [read('f0'), read('f1'), read('f2')] })
    }
  })

  it('refuses what does not match its schema', async () => {
    expect((await plan({}, { recent: [{ tool: '' }] })).status).toBe(400)
  })
})
