import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EncodeAnswer } from '../../../src/core/contract/encode.ts'
import type { GainAnswer } from '../../../src/core/contract/gain.ts'
import { BUILDERS } from '../../../src/service/builders.ts'
import { startSmallService } from './harness.ts'

const LOG = Array.from({ length: 400 }, (_, at) => `step ${at} took ${(at * 37) % 1000} ms`)

let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  const { openConfiguredBook } = BUILDERS
  service = await startSmallService({}, { builders: { openConfiguredBook } })
})
afterAll(() => service.close())

async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const answer =
    body === undefined ? fetch(service.url + path) : service.post(path, JSON.stringify(body))
  return (await (await answer).json()) as Answer
}

it('what is fetched of texts that were left out is counted by their tool, and nothing else is', async () => {
  const content = LOG.join('\n')
  const elided = { content, tool: 'logs', mode: 'elide', min_saved_tokens: 0, budget_tokens: 200 }
  const answer = await ask<EncodeAnswer>('/v1/encode', elided)
  const [{ hash = '' } = {}] = answer.elided
  expect(hash).toMatch(/^[0-9a-f]{24}/)
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const params = { name: 'haversack_retrieve', arguments: { hash, lines: '1-3' } }
  await ask(`/v1/retrieve/${hash}`)
  await ask(`/v1/retrieve/${hash}?lines=2-4`)
  await ask('/mcp', { ...call, params })
  // A kept input is no text that was left out, and what is not there was not fetched.
  const { input_ref } = await ask<{ input_ref: string }>('/v1/inputs', { content: 'kept' })
  await ask(`/v1/retrieve/${input_ref}`)
  await ask(`/v1/retrieve/${'0'.repeat(24)}`)

  const fetches = async () => {
    const { by } = await ask<GainAnswer>('/v1/gain')
    return by.tool.filter(({ fetched }) => fetched > 0).map(({ name, fetched }) => [name, fetched])
  }
  await expect.poll(fetches, { timeout: 20_000 }).toEqual([['logs', 3]])
})
