import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { ANTHROPIC } from '../../bench/trial/dialects.ts'
import { type PlainModel, startPlainModel } from '../../bench/trial/plain-model.ts'
import { estimate, playPairs, type TrialTerms } from '../../bench/trial/with-model.ts'
import { startSmallArm } from '../support/trial/small-arm.ts'

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
async function before(model: PlainModel, fails: (n: number) => RequestListener | null) {
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

it('repeats the whole pair if the provider fails or cuts its answer, and names it in the end', async () => {
  const model = await plainModel()
  const cut: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
    response.write('{"type":"message",', () => response.destroy())
  }
  const refused: RequestListener = (_, response) => void response.writeHead(529).end('{}')
  const url = await before(model, n => (n === 3 ? cut : n === 9 ? refused : null))
  const { pairs, lines } = await play(termsOf(url))
  expect(pairs.length).toBe(1)
  expect(lines.length).toBeGreaterThan(2)
  const never = await play(termsOf(await before(model, () => refused)))
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
  const url = await before(model, () => {
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
  const url = await before(model, n => async (request, response) => {
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
