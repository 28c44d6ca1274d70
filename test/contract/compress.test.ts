import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compress, HeadroomAuthError, HeadroomClient, HeadroomCompressError } from 'headroom-ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSmallService } from '../integration/service/harness.ts'
import { keyFor, writeKeysFile } from '../support/keys.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-compress-'))
const plain = keyFor('acme', { scopes: ['encode', 'retrieve'] })
const retrieving = keyFor('acme', { scopes: ['encode', 'retrieve'], redeems: true })
const stranger = keyFor('beta', { scopes: ['encode', 'retrieve'], redeems: true })

let service: Awaited<ReturnType<typeof startSmallService>>
beforeAll(async () => {
  const keys_file = join(folder, 'keys.json')
  writeKeysFile(keys_file, plain, retrieving, stranger)
  service = await startSmallService({ keys_file, workers: { count: 1 } })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const rows = JSON.stringify(
  Array.from({ length: 80 }, (_, i) => ({ id: i, name: `user ${i * 7919}`, open: i % 3 === 0 })),
)
const openAi = [
  { role: 'system', content: 'Answer briefly.' },
  { role: 'user', content: 'Which are open?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'list', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: rows },
]
const anthropic = [
  { role: 'user', content: 'Which are open?' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'list', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: rows }] },
]

const options = (key = plain) => ({
  baseUrl: service.url,
  apiKey: key.key,
  fallback: false,
  retries: 0,
})

describe('compress() of headroom-ai', () => {
  it('writes the tool result of an OpenAI conversation smaller', async () => {
    const result = await compress(openAi, { ...options(), model: 'gpt-4o' })
    expect(result).toMatchObject({ compressed: true, ccrHashes: [], transformsApplied: ['tree@2'] })
    expect(result.messages.slice(0, 3)).toEqual(openAi.slice(0, 3))
    expect(result.messages[3]).toMatchObject({ role: 'tool', tool_call_id: 'c1' })
    expect(result.messages[3].content.length).toBeLessThan(rows.length / 2)
    expect(result.tokensBefore - result.tokensAfter).toBe(result.tokensSaved)
    expect(result.compressionRatio).toBe(result.tokensAfter / result.tokensBefore)
  })

  it('and of an Anthropic one', async () => {
    const result = await compress(anthropic, { ...options(), model: 'claude-sonnet-4-6' })
    expect(result.messages.slice(0, 2)).toEqual(anthropic.slice(0, 2))
    const [block] = result.messages[2].content
    expect(block).toMatchObject({ type: 'tool_result', tool_use_id: 't1' })
    expect(block.content.length).toBeLessThan(rows.length / 2)
  })

  it('keeps to a budget for a key that redeems, and only for it', async () => {
    const tokenBudget = 250
    const within = await compress(openAi, { ...options(retrieving), tokenBudget })
    expect(within.tokensAfter).toBeLessThanOrEqual(tokenBudget)
    expect(within.ccrHashes).toHaveLength(1)
    const whole = await compress(openAi, { ...options(), tokenBudget })
    expect(whole.ccrHashes).toEqual([])
    expect(whole.tokensAfter).toBeGreaterThan(tokenBudget)
  })

  it('gets the same for the same', async () => {
    const bodies = await Promise.all(
      Array.from({ length: 3 }, () =>
        service.post(
          '/v1/compress',
          JSON.stringify({ messages: openAi, token_budget: 250 }),
          retrieving.headers,
        ),
      ),
    )
    const [first, ...others] = await Promise.all(bodies.map(body => body.text()))
    for (const other of others) expect(other).toBe(first)
  })

  it('is told what went wrong as its errors', async () => {
    const noKey = { ...options(), apiKey: 'hvs_unknown' }
    await expect(compress(openAi, noKey)).rejects.toThrow(HeadroomAuthError)
    const client = new HeadroomClient(options())
    const refused = client.compress('none' as never)
    await expect(refused).rejects.toThrow(HeadroomCompressError)
    await expect(refused).rejects.toMatchObject({ statusCode: 400 })
  })
})

/**
 * What LiteLLM's guardrail `headroom` does, by its documentation and source (1.92 and later): it
 * posts the messages and the model with its key as Bearer; wants 200 and a list with objects;
 * offers the model a tool where it finds hashes, which earlier releases look for in the texts and
 * later ones in `ccr_hashes`; and gets the original by one of these, with a `query` where the model
 * gave one.
 */
function createGuardrail({ key }: { key: string }) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }

  async function call(messages: readonly object[], fields: object) {
    const body = JSON.stringify({ messages, ...fields })
    const response = await fetch(`${service.url}/v1/compress`, { method: 'POST', headers, body })
    const answer = (await response.json()) as {
      messages: { content: string | { text?: string }[] }[]
      ccr_hashes: string[]
    }
    expect(response.status).toBe(200)
    expect(answer.messages.length).toBeGreaterThan(0)
    expect(answer.messages.every(m => typeof m === 'object' && !Array.isArray(m))).toBe(true)
    return answer
  }

  return {
    async compress(messages: readonly object[], fields: object = { model: 'gpt-4o' }) {
      const answer = await call(messages, fields)
      const inTexts = answer.messages
        .flatMap(({ content }) =>
          Array.isArray(content) ? content.map(({ text = '' }) => text) : (content ?? ''),
        )
        .flatMap(text => [...text.matchAll(/hash=([a-f0-9]{24})/g)].map(([, hash]) => hash))
      const declared = answer.ccr_hashes.filter(hash => /^[a-f0-9]{12,24}$/.test(hash))
      return { ...answer, inTexts, declared }
    },
    async retrieve(hash: string, query?: string) {
      const search = query === undefined ? '' : `?${new URLSearchParams({ query })}`
      const response = await fetch(`${service.url}/v1/retrieve/${hash}${search}`, { headers })
      const body = (await response.json()) as { original_content?: string }
      return { status: response.status, original: body.original_content }
    },
  }
}

describe("LiteLLM's guardrail", () => {
  it('gets a list of messages back, and nothing to redeem where it sent no budget', async () => {
    for (const key of [plain, retrieving]) {
      const { messages, inTexts, declared } = await createGuardrail(key).compress(openAi)
      expect(messages.slice(0, 3)).toEqual(openAi.slice(0, 3))
      expect(String(messages[3]?.content).length).toBeLessThan(rows.length / 2)
      expect([inTexts, declared]).toEqual([[], []])
    }
  })

  it('may send no model, and leave the messages of the assistant out', async () => {
    const whole = await createGuardrail(plain).compress(openAi)
    const some = openAi.filter(({ role }) => role !== 'assistant')
    const { messages } = await createGuardrail(plain).compress(some, {})
    expect(messages.at(-1)).toEqual(whole.messages.at(-1))
  })

  it('finds the same hashes in texts and beside them, and the originals behind them', async () => {
    const guardrail = createGuardrail(retrieving)
    const { inTexts, declared } = await guardrail.compress(openAi, { token_budget: 250 })
    expect(declared).toHaveLength(1)
    expect(inTexts).toEqual(declared)
    for (const query of [undefined, 'which are open?']) {
      expect(await guardrail.retrieve(declared[0]!, query)).toEqual({ status: 200, original: rows })
    }
    expect(await guardrail.retrieve('0'.repeat(24))).toEqual({ status: 404 })
    expect(await createGuardrail(stranger).retrieve(declared[0]!)).toEqual({ status: 404 })
  })

  it('is not in the way of a client that wants nothing changed', async () => {
    const response = await service.post('/v1/compress', JSON.stringify({ messages: openAi }), {
      ...plain.headers,
      'x-headroom-bypass': 'true',
    })
    expect(await response.json()).toMatchObject({ messages: openAi, tokens_saved: 0 })
  })
})

describe('docs/guide/gateways.md', () => {
  it('shows what the service answers', async () => {
    const text = readFileSync(new URL('../../docs/guide/gateways.md', import.meta.url), 'utf8')
    const [, body = ''] = /```sh\ncurl [^']*'[^']*' -d '([^']*)'\n```/.exec(text) ?? []
    const [, shown = ''] = /```json\n([^`]*)```/.exec(text) ?? []
    const response = await service.post('/v1/compress', body, plain.headers)
    expect(await response.json()).toEqual(JSON.parse(shown))
  })
})
