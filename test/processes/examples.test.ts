import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SavingsAnswer } from '../../src/core/contract/savings.ts'
import { decode, encode } from '../../src/index.ts'
import { startSmallService } from '../integration/service/harness.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../integration/service/recording-upstream.ts'

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0

/** What the model says: it calls the tool once, and then has the last word. */
const CALL = {
  role: 'assistant',
  content: null,
  tool_calls: [
    {
      id: 'call_1',
      type: 'function',
      function: { name: 'list_orders', arguments: '{"customer":"Ada"}' },
    },
  ],
}
const LAST_WORDS = { role: 'assistant', content: 'Those with the state lost.' }

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
}

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  service = await startSmallService({ proxy: { openai_url: upstream.url } })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

/** The last words of an example, and the tool result that the vendor got. */
async function play({ program, file }: Example, baseUrl: string) {
  upstream.answerWith((response, { body }) => {
    const { messages } = JSON.parse(body.toString()) as ChatRequest
    const isLast = messages.at(-1)?.role === 'tool'
    const choice = isLast
      ? { message: LAST_WORDS, finish_reason: 'stop' }
      : { message: CALL, finish_reason: 'tool_calls' }
    const usage = { prompt_tokens: body.length >> 2, completion_tokens: 5, total_tokens: 5 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'gpt-5', usage },
        choices: [{ index: 0, ...choice }],
      }),
    )
  })
  const env = { ...process.env, OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'k' }
  const { stdout } = await promisify(execFile)(program, [fileOf(file)], { env })
  const { messages } = JSON.parse(upstream.last().body.toString()) as ChatRequest
  return { stdout, result: messages.at(-1)?.content ?? '' }
}

interface Example {
  readonly program: string
  readonly file: string
}

const EXAMPLES: readonly Example[] = [
  ...(hasPython ? [{ program: 'python3', file: 'agent.py' }] : []),
  ...['ai-sdk.mjs', 'langchain.mjs', 'openai-agents.mjs'].map(file => {
    return { program: process.execPath, file }
  }),
]

describe.each(EXAMPLES)('the example $file', example => {
  it('has the same last words through the proxy, with a smaller result', async () => {
    const direct = await play(example, upstream.url)
    const through = await play(example, `${service.url}/openai/v1`)
    expect(through.stdout).toBe('Those with the state lost.\n')
    expect(through.stdout).toBe(direct.stdout)
    expect(direct.result).toMatch(/"customer": ?"Ada"/)
    expect(through.result.length).toBeLessThan(direct.result.length * 0.6)
    const { format } = encode({ content: direct.result })
    const { content } = decode({ content: through.result, format })
    expect(JSON.parse(content)).toEqual(JSON.parse(direct.result))
  })
})

it('changed no beginning of a conversation', async () => {
  const { vendors } = (await (await fetch(`${service.url}/v1/savings`)).json()) as SavingsAnswer
  const { results, requests } = vendors.openai!.figures
  expect(requests.count).toBe(2 * EXAMPLES.length)
  expect(results.after).toBeLessThan(results.before * 0.6)
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  expect(metrics).not.toMatch(/^haversack_proxy_prefix_changes_total\{.*\} [1-9]/m)
})
