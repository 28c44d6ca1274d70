import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
async function play(baseUrl: string) {
  upstream.answerWith((response, { body }) => {
    const { messages } = JSON.parse(body.toString()) as ChatRequest
    const message = messages.at(-1)?.role === 'tool' ? LAST_WORDS : CALL
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ model: 'gpt-5', choices: [{ message }] }))
  })
  const env = { ...process.env, OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'k' }
  const { stdout } = await promisify(execFile)('python3', [fileOf('agent.py')], { env })
  const { messages } = JSON.parse(upstream.last().body.toString()) as ChatRequest
  return { stdout, result: messages.at(-1)?.content ?? '' }
}

describe.skipIf(!hasPython)('the example in Python', () => {
  it('has the same last words through the proxy, with a smaller result', async () => {
    const direct = await play(upstream.url)
    const through = await play(`${service.url}/openai/v1`)
    expect(through.stdout).toBe('Those with the state lost.\n')
    expect(through.stdout).toBe(direct.stdout)
    expect(direct.result).toContain('"customer": "Ada"')
    expect(through.result.length).toBeLessThan(direct.result.length * 0.6)
    const { format } = encode({ content: direct.result })
    const { content } = decode({ content: through.result, format })
    expect(JSON.parse(content)).toEqual(JSON.parse(direct.result))
  })
})
