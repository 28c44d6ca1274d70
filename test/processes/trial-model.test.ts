import { execFile } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import type { StartArm } from '../../bench/trial/arms.ts'
import { ANTHROPIC, OPENAI } from '../../bench/trial/dialects.ts'
import { type PlainModel, startPlainModel } from '../../bench/trial/plain-model.ts'
import { estimate, playPairs, type TrialTerms } from '../../bench/trial/with-model.ts'
import { startSmallArm } from '../support/trial/small-arm.ts'
import { counters } from '../support/vocabularies.ts'

const KEY = 'sk-planted-key'
const USAGE = { fresh: 100, read: 900, written: 50, output: 20 }

const open: { close(): Promise<void> | void }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function plainModel(usage: typeof USAGE | null = USAGE): Promise<PlainModel> {
  const model = await startPlainModel(() => usage)
  open.push(model)
  return model
}

/** A provider before the model, which may fail. */
async function inFrontOf(model: PlainModel, fails: (n: number) => RequestListener | null) {
  let n = 0
  const server = createServer(async (request, response) => {
    const failing = fails(n++)
    if (failing !== null) return failing(request, response)
    const answer = await fetch(model.url + request.url, {
      method: 'POST',
      body: await textOf(request),
    })
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(await answer.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  open.push({ close: () => void server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const termsOf = (url: string, more: Partial<TrialTerms> = {}): TrialTerms => ({
  ...{ url, model: 'claude-fable-5-1', key: KEY, dialect: ANTHROPIC, start: startSmallArm },
  ...{ seed: 4, pairs: 1, passes: 1, arms: ['raw', 'packed'], budget: 100 },
  ...more,
})

async function play(terms: TrialTerms) {
  const lines: string[] = []
  const played = await playPairs(terms, line => lines.push(JSON.stringify(line)))
  return { ...played, lines }
}

it('states the bill of each arm, and that of its requests unpacked', async () => {
  const { url } = await plainModel()
  const { pairs, excluded, spent, lines } = await play(termsOf(url))
  expect([pairs.length, excluded, lines.length]).toEqual([1, [], 2])
  const [raw, packed] = [pairs[0]!.sides.get('raw')!, pairs[0]!.sides.get('packed')!]
  expect([raw.solved, packed.solved, raw.steps]).toEqual([true, true, packed.steps])
  expect(raw.without).toBeNull()
  expect(packed.cost).toBeCloseTo(raw.cost!, 6)
  expect(packed.without).toBeGreaterThan(packed.cost!)
  expect(spent).toBeGreaterThan(0)
})

/** What a provider reads, part by part. Breakpoints move, and are no part of it. */
function partsOf(body: string): readonly string[] {
  const bare = body.replaceAll(',"cache_control":{"type":"ephemeral"}', '')
  const { tools, system, messages } = JSON.parse(bare) as Record<string, unknown[]>
  const blocks = (messages as { role: string; content: unknown }[]).flatMap(message => {
    if (message.role === 'tool') return message.content
    return Array.isArray(message.content) ? (message.content as unknown[]) : message
  })
  const resultOf = (block: unknown) => {
    const isResult = (block as { type?: string }).type === 'tool_result'
    return isResult ? (block as { content: unknown }).content : block
  }
  return [...tools!, system ?? '', ...blocks].map(block => {
    const part = resultOf(block)
    return typeof part === 'string' ? part : JSON.stringify(part)
  })
}

/** A provider that counts what it is sent, and has all parts of the request before in its cache. */
async function counting(model: PlainModel): Promise<string> {
  const { count } = counters.get('o200k_base')
  let before: readonly string[] = []
  return inFrontOf(model, () => async (request, response) => {
    const body = await textOf(request)
    const parts = partsOf(body)
    const sum = (of: readonly string[]) => of.reduce((all, each) => all + count(each), 0)
    const read = before.every((part, at) => part === parts[at]) ? sum(before) : 0
    before = parts
    const answered = await fetch(model.url + request.url, { method: 'POST', body })
    const answer = (await answered.json()) as object
    const written = sum(parts) - read
    const usage = {
      ...{ input_tokens: 0, output_tokens: 20, completion_tokens: 20 },
      ...{ cache_read_input_tokens: read, cache_creation_input_tokens: written },
      ...{ prompt_tokens: read + written, prompt_tokens_details: { cached_tokens: read } },
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...answer, usage }))
  })
}

const COUNTING = [
  ['Messages', ANTHROPIC, 'claude-fable-5-1'],
  ['Chat Completions', OPENAI, 'gpt-5'],
] as const

it.each(COUNTING)(
  'the same requests unpacked cost what raw ones do: %s',
  async (_, dialect, name) => {
    const url = await counting(await plainModel())
    // Of these tasks much is packed: pages of a list, log lines, a pipeline that is polled.
    const { pairs } = await play(termsOf(url, { ...{ dialect, model: name }, seed: 6, pairs: 3 }))
    for (const { seed, sides } of pairs) {
      const [raw, packed] = [sides.get('raw')!, sides.get('packed')!]
      expect([seed, packed.steps]).toEqual([seed, raw.steps])
      expect(packed.cost, `${seed}`).toBeLessThan(0.9 * raw.cost!)
      expect(Math.abs(packed.without! - raw.cost!), `${seed}`).toBeLessThan(0.5)
    }
    expect(pairs.length).toBe(3)
  },
)

it('an arm that packs nothing has the same bill unpacked', async () => {
  const url = await counting(await plainModel())
  const start: StartArm = (files, ...upstream) => {
    appendFileSync(files.pipeline, '[mckp]\nformats_enabled = []\n')
    appendFileSync(files.pipeline, '[dedup]\nmin_body_chars = 1_000_000\n')
    return startSmallArm(files, ...upstream)
  }
  const { pairs } = await play(termsOf(url, { start, seed: 6 }))
  const [raw, { cost, without }] = [pairs[0]!.sides.get('raw')!, pairs[0]!.sides.get('packed')!]
  expect(without).toBe(cost)
  expect(cost).toBeCloseTo(raw.cost!, 0)
})

it('repeats the whole pair if the provider fails or cuts its answer, and names it in the end', async () => {
  const model = await plainModel()
  const cut: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
    response.write('{"type":"message",', () => response.destroy())
  }
  const refused: RequestListener = (_, response) => void response.writeHead(529).end('{}')
  const url = await inFrontOf(model, n => (n === 3 ? cut : n === 9 ? refused : null))
  const { pairs, lines } = await play(termsOf(url))
  expect(pairs.length).toBe(1)
  expect(lines.length).toBeGreaterThan(2)
  const never = await play(termsOf(await inFrontOf(model, () => refused)))
  expect([never.pairs, never.excluded]).toEqual([[], ['seed 4, pass 1']])
})

it('knows no cost without usage, and still holds the budget', async () => {
  const { url } = await plainModel(null)
  const { pairs } = await play(termsOf(url))
  const sides = [...pairs[0]!.sides.values()]
  expect(sides.map(({ cost, solved }) => [cost, solved])).toEqual([
    [null, true],
    [null, true],
  ])
  const ended = await play(termsOf(url, { budget: 0.02 }))
  expect([ended.isOverBudget, ended.pairs.length]).toEqual([true, 0])
})

it('asks nothing with a budget of 0', async () => {
  let asked = 0
  const model = await plainModel()
  const url = await inFrontOf(model, () => {
    asked++
    return null
  })
  const terms = termsOf(url, { budget: 0 })
  const { pairs, isOverBudget } = await play(terms)
  expect([asked, pairs.length, isOverBudget]).toEqual([0, 0, true])
  expect(await estimate(terms)).toBeGreaterThan(0)
})

it('keeps transcripts and results without the key, which provider and model quote', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-trial-test-'))
  open.push({ close: () => rmSync(folder, { recursive: true, force: true }) })
  const model = await plainModel()
  let quoted = 0
  const url = await inFrontOf(model, n => async (request, response) => {
    const key = String(request.headers['x-api-key'])
    if (n === 1) {
      response.writeHead(401).end(`{"error":"no such key: ${key}"}`)
      return
    }
    const body = await textOf(request)
    const answered = await fetch(model.url + request.url, { method: 'POST', body })
    const answer = (await answered.json()) as { content: { name?: string }[] }
    const isLast = answer.content.at(-1)?.name === 'answer'
    if (isLast && key === KEY) quoted++
    if (isLast) answer.content.push({ type: 'text', text: `I was sent ${key}.` } as object)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const bench = fileURLToPath(new URL('../../bench/trial.ts', import.meta.url))
  const args = [
    ...[bench, '--url', url, '--model', 'claude-fable-5-1', '--key-env', 'TRIAL_KEY'],
    ...['--seed', '4', '--pairs', '1', '--arms', 'raw,packed', '--folder', folder],
  ]
  const env = { ...process.env, TRIAL_KEY: KEY }
  const said = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
      error === null ? resolve(stdout + stderr) : reject(error),
    )
  })
  expect(quoted).toBe(2)
  const names = ['claude-fable-5-1.json', 'claude-fable-5-1.transcripts.jsonl']
  expect(readdirSync(folder)).toEqual(names)
  const [results, transcripts] = names.map(name => readFileSync(join(folder, name), 'utf8'))
  expect(transcripts).toContain('no such key: [key]')
  for (const text of [said, results, transcripts]) expect(text).not.toContain(KEY)
  expect(JSON.parse(results!)).toMatchObject({ model: 'claude-fable-5-1', excluded: [] })
  expect(said).toContain('estimated: $')
})
