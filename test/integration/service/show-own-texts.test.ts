import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startOwnService } from '../../../src/cli/run/own-service.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { captureCli } from '../../support/capture.ts'
import { recordingUpstream } from './recording-upstream.ts'

const CODE = Array.from({ length: 60 }, (_, i) => `${i + 1}\tconst value${i} = compute(${i * 7})`)
const ROWS = Array.from({ length: 30 }, (_, id) => ({ id, name: `user ${id}`, state: 'open' }))
/** Texts that change in each way, and one that does not. */
const RESULTS = [
  CODE.join('\n'),
  JSON.stringify(ROWS),
  CODE.with(30, '31\tedited').join('\n'),
  'a \x1b[31mred\x1b[0m word',
  CODE.join('\n'),
]

function bodyOf(results: readonly string[]): string {
  const messages = results.flatMap((content, i) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name: 'Read', input: { i } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content }] },
  ])
  return JSON.stringify({
    model: 'claude-sonnet-4-5',
    messages: [{ role: 'user', content: 'go' }, ...messages],
  })
}

/** What `run` does, for an agent that has these results one after the other. */
async function runAgent(): Promise<void> {
  const upstream = await recordingUpstream()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-shown-'))
  const data = join(folder, 'user')
  const config = join(folder, 'patient.toml')
  writeFileSync(config, '[proxy]\nrewrite_timeout_ms = 600_000\n')
  vi.stubEnv('HAVERSACK_DATA_DIR', data)
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await upstream.close()
    rmSync(folder, { recursive: true })
  })
  const start = () =>
    startOwnService({
      env: {
        HAVERSACK_ANTHROPIC_URL: upstream.url,
        HAVERSACK_CONFIG: config,
        HAVERSACK_DATA_DIR: data,
      },
      folder: join(folder, 'own'),
      isTemporary: true,
      elides: false,
      hasLedger: true,
      keepsTexts: true,
      program: 'agent',
      logger: () => createLogger('silent'),
    })
  // It keeps nothing, and its user was told nonetheless.
  const idle = await start()
  expect(idle.beginsTexts).toBe(true)
  await idle.close()
  const own = await start()
  expect(own.beginsTexts).toBe(false)
  for (let turn = 1; turn <= RESULTS.length; turn++) {
    const body = bodyOf(RESULTS.slice(0, turn))
    const headers = { 'content-type': 'application/json' }
    await (
      await fetch(`${own.url}/anthropic/v1/messages`, { method: 'POST', headers, body })
    ).text()
  }
  await own.close()
}

it('every result behind run has a before and an after, which decodes to it', async () => {
  await runAgent()
  for (const [at, text] of RESULTS.entries()) {
    const { code, stdout } = await captureCli('show', `${at + 1}`, '--json')
    const shown = JSON.parse(stdout)
    expect([code, shown.check, shown.before]).toEqual([0, 'same', text])
    expect(shown.after === text).toBe(at === 3)
    expect((await captureCli('show', `${at + 1}`, '--before')).stdout).toBe(text)
  }
  vi.stubEnv('FORCE_COLOR', '1')
  const edited = (await captureCli('show', '3')).stdout.replaceAll('\x1b', '^')
  expect(edited).toMatch(/\^\[36m> \[ref \w{8} lines 1-30/)
  // Below a reference is what it points at.
  expect(edited).toMatch(/\^\[2m {2}1\tconst value0 = /)
  expect(edited).toContain('decoded just now: it gives the original')
  vi.stubEnv('NO_COLOR', '1')
  const colored = (await captureCli('show', '4')).stdout
  expect(colored).not.toContain('\x1b')
  expect(colored).toContain('a \\u001b[31mred')
  expect((await captureCli('show')).stdout).toContain('result 5')
  expect(await captureCli('show', '6', '--json')).toMatchObject({ code: 1 })
})
