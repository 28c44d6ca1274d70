import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GainAnswer, GainDimension } from '../../../../src/core/contract/gain.ts'
import { encode } from '../../../../src/index.ts'
import { BUILDERS } from '../../../../src/service/builders.ts'
import { startSmallService } from '../../service/harness.ts'
import { type RecordingUpstream, recordingUpstream } from '../../service/recording-upstream.ts'

const BOATS = JSON.stringify(Array.from({ length: 60 }, (_, id) => ({ id, state: 'at sea' })))
const PACKED = encode({ content: BOATS, tool: 'list_boats' })
const { baseline: BEFORE, final: AFTER } = PACKED.tokens
const INPUT_TOKENS = 500

const { openConfiguredBook } = BUILDERS
const startService = (anthropic_url: string) =>
  startSmallService({ proxy: { anthropic_url } }, { builders: { openConfiguredBook } })

type TestService = Awaited<ReturnType<typeof startService>>
let vendor: RecordingUpstream
/** The one before the vendor, and the one that the agent talks to. */
let inner: TestService
let outer: TestService

beforeAll(async () => {
  vendor = await recordingUpstream()
  vendor.answerWith(response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const usage = { input_tokens: INPUT_TOKENS, output_tokens: 0 }
    response.end(JSON.stringify({ type: 'message', model: 'claude-sonnet-4-5', usage }))
  })
  inner = await startService(vendor.url)
  outer = await startService(`${inner.url}/anthropic`)
})
afterAll(async () => {
  await Promise.all([outer, inner, vendor].map(each => each.close()))
})

async function send(
  service: TestService,
  results: readonly string[],
  question = 'Which boats are there?',
): Promise<void> {
  const turns = results.flatMap((content, at) => {
    const id = `call_${at}`
    const call = { type: 'tool_use', id, name: 'list_boats', input: { question } }
    const result = { type: 'tool_result', tool_use_id: id, content }
    return [
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ]
  })
  const messages = [{ role: 'user', content: question }, ...turns]
  const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages })
  const answer = await service.post('/anthropic/v1/messages', body)
  expect(answer.status).toBe(200)
}

/** The sums of all ledgers together. */
async function sums(services: readonly TestService[], dimension: GainDimension = 'day') {
  const parts = await Promise.all(
    services.map(async ({ url }) => {
      const { by } = (await (await fetch(`${url}/v1/gain`)).json()) as GainAnswer
      return by[dimension]
    }),
  )
  const sum = (name: 'results' | 'before' | 'encoded' | 'requests' | 'billed') =>
    parts.flat().reduce((all, part) => all + part[name], 0)
  const [results, before, requests] = [sum('results'), sum('before'), sum('requests')]
  return { results, before, requests, after: before - sum('encoded'), billed: sum('billed') }
}

const ONCE = { results: 1, before: BEFORE, after: AFTER }

it('a request through two services counts once, with its bill and its results', async () => {
  await send(outer, [])
  await send(outer, [BOATS])
  const whole = { ...ONCE, requests: 2, billed: 2 * INPUT_TOKENS }
  await expect.poll(() => sums([outer, inner]), { timeout: 20_000 }).toEqual(whole)
  expect(await sums([inner])).toMatchObject({ results: 1, before: AFTER, requests: 2 })
  expect(await sums([outer])).toMatchObject({ results: 0, before: BEFORE - AFTER, requests: 0 })
})

it('a result that a hook packed and the proxy sends on counts once', async () => {
  const before = await sums([inner])
  const headers = { 'user-agent': 'haversack-hook-claude' }
  const body = JSON.stringify({ content: BOATS, tool: 'list_boats' })
  const { content } = (await (await inner.post('/v1/encode', body, headers)).json()) as {
    content: string
  }
  expect(content).toBe(PACKED.content)
  await send(inner, [content], 'Which ones are at sea?')
  const more = async () => {
    const now = await sums([inner])
    return {
      results: now.results - before.results,
      before: now.before - before.before,
      after: now.after - before.after,
      requests: now.requests - before.requests,
    }
  }
  await expect.poll(more, { timeout: 20_000 }).toEqual({ ...ONCE, requests: 1 })
})
