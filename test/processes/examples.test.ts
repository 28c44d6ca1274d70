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

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  const { url } = upstream
  service = await startSmallService({
    proxy: {
      ...{ openai_url: url, anthropic_url: url },
      upstreams: [{ name: 'gemini', url, dialect: 'gemini' }],
    },
  })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

/** The last words of an example, and the tool result that the vendor got. */
async function play({ program, file, names, path }: Example, through: boolean) {
  upstream.answerWith(answerByScript)
  const [url, key] = names
  const baseUrl = through ? service.url + path : upstream.url
  const env = { ...process.env, [url]: baseUrl, [key]: 'k' }
  const { stdout } = await promisify(execFile)(program, [fileOf(file)], { env })
  return { stdout, result: longestIn(JSON.parse(upstream.last().body.toString())) }
}

/** The result is the longest string of a request. */
function longestIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  const texts = Object.values(value).map(longestIn)
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '')
}

interface Example {
  readonly program: string
  readonly file: string
  /** The variables of the base URL and of the key. */
  readonly names: readonly [string, string]
  /** The path of the base URL, at the service. */
  readonly path: string
}

const ofOpenAi = { names: ['OPENAI_BASE_URL', 'OPENAI_API_KEY'], path: '/openai/v1' } as const
const node = process.execPath

const EXAMPLES: readonly Example[] = [
  ...(hasPython ? [{ program: 'python3', file: 'agent.py', ...ofOpenAi }] : []),
  ...['ai-sdk.mjs', 'langchain.mjs', 'openai-agents.mjs'].map(file => {
    return { program: node, file, ...ofOpenAi }
  }),
  {
    ...{ program: node, file: 'anthropic-sdk.mjs', path: '/anthropic' },
    names: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY'],
  },
  {
    ...{ program: node, file: 'google-genai.mjs', path: '/up/gemini' },
    names: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_API_KEY'],
  },
]

describe.each(EXAMPLES)('the example $file', example => {
  it('has the same last words through the proxy, with a smaller result', async () => {
    const direct = await play(example, false)
    const through = await play(example, true)
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
  const asked = async () => {
    return (await (await fetch(`${service.url}/v1/savings`)).json()) as SavingsAnswer
  }
  await expect
    .poll(async () => {
      const all = Object.values((await asked()).vendors)
      return all.reduce((sum, { figures }) => sum + figures.requests.count, 0)
    })
    .toBe(2 * EXAMPLES.length)
  for (const { figures } of Object.values((await asked()).vendors)) {
    expect(figures.results.after).toBeLessThan(figures.results.before * 0.6)
  }
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  expect(metrics).not.toMatch(/^haversack_proxy_prefix_changes_total\{.*\} [1-9]/m)
})
