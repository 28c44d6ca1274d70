import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SavingsFigures } from '../../../src/book/bill/figures.ts'
import { summaryLines } from '../../../src/cli/run/summary.ts'
import type { SavingsAnswer } from '../../../src/core/contract/savings.ts'
import { captureCli } from '../../support/capture.ts'
import { claudeCodeLog, recordedLog } from '../../support/log-writers.ts'
import { startSmallService } from './harness.ts'
import { type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-figures-'))
const data = join(folder, 'data')

const TEXTS = [
  JSON.stringify(Array.from({ length: 60 }, (_, id) => ({ id, name: `name ${id}`, open: true }))),
  JSON.stringify(Array.from({ length: 30 }, (_, n) => ({ path: `src/${n * n}.ts`, lines: 7 * n }))),
  'Done: nothing in this text is said twice, so it stays as it is.',
]
const results = TEXTS.map((text, i) => ({
  tool: 'query',
  args: { table: `table ${i}` },
  text,
  is_error: false,
  call_id: `call_${i}`,
  ts_ms: 1_700_000_000_000 + i,
  compacted: false,
}))

/** The request after so many results: a history is sent again in each. */
function requestAfter(count: number) {
  const turns = results.slice(0, count).flatMap(({ tool, args, text, call_id }) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: call_id,
          type: 'function',
          function: { name: tool, arguments: JSON.stringify(args) },
        },
      ],
    },
    { role: 'tool', tool_call_id: call_id, content: text },
  ])
  return { model: 'gpt-5', messages: [{ role: 'user', content: 'look it up' }, ...turns] }
}

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  upstream.answerWith((response, { body }) => {
    const usage = { prompt_tokens: Math.round(body.length / 3), completion_tokens: 1 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'a', model: 'gpt-5', choices: [], usage }))
  })
  service = await startSmallService({
    data_dir: data,
    telemetry: { sample_rate: 1 },
    proxy: { openai_url: upstream.url },
  })
  for (let count = 1; count <= results.length; count++) {
    const response = await fetch(`${service.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
      body: JSON.stringify(requestAfter(count)),
    })
    expect(response.status).toBe(200)
    await response.text()
  }
})

afterAll(async () => {
  await service.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

function fileOf(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

async function savings() {
  const answer = await (await fetch(`${service.url}/v1/savings`)).json()
  return (answer as SavingsAnswer).vendors.openai?.figures as SavingsFigures
}

describe('one conversation in five reports', () => {
  it('has the same three figures, or none where there were no requests', async () => {
    await expect.poll(async () => (await savings())?.requests.count).toBe(results.length)
    const figures = await savings()
    expect(figures.results.count).toBe(results.length)
    expect(figures.results.after).toBeLessThan(figures.results.before * 0.7)
    // The first result is in each of the three requests.
    const removed = figures.requests.before - figures.requests.after
    expect(removed).toBeGreaterThan(figures.results.before - figures.results.after)

    const summary = summaryLines({ figures, untouched: {}, placed: 0, refused: [] })
    const log = fileOf('claude.jsonl', claudeCodeLog('s', results))
    const recorded = fileOf('recorded.jsonl', recordedLog('s', results))
    const asked = ['--tokenizer', 'o200k_base']
    const only = { results: figures.results, requests: null, billed: null }

    for (const call of [
      ['tune', 'mine', ...asked, log],
      ['replay', ...asked, recorded],
    ]) {
      const { stdout } = await captureCli(...call, '--json')
      expect(JSON.parse(stdout).figures).toEqual(only)
      const lines = (await captureCli(...call)).stdout.split('\n')
      expect(lines).toContain(summary[0])
      expect(lines).toContain('requests: unknown, since no model requests were read')
      expect(lines).toContain('billed:   unknown, since no model requests were read')
    }
    await expect
      .poll(async () => {
        const { stdout } = await captureCli('telemetry', 'show', '--data', data, '--json')
        return JSON.parse(stdout).tokenizers[0]?.figures
      })
      .toEqual(only)
    const { stdout } = await captureCli('telemetry', 'show', '--data', data)
    expect(stdout.split('\n')).toContain(summary[0])
  })
})
