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
import { answerByScript, LAST_WORDS } from './scripted-model.ts'

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0

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
  upstream.answerWith(answerByScript)
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
    expect(through.stdout).toBe(`${LAST_WORDS}\n`)
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
