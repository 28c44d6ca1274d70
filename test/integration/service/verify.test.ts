import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { captureCli } from '../../support/capture.ts'
import { startSmallService } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-verify-'))
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  service = await startSmallService({ workers: { count: 1 } })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const lines = Array.from({ length: 80 }, (_, id) => `${id + 1}\tconst value${id} = f(${id * 31})`)
const file = lines.join('\n')
const path = join(folder, 'session.jsonl')
const transcript = join(folder, 'transcript.jsonl')

it('redeems every id of a replay at the service that it was played against', async () => {
  const read = { session: 's', tool: 'Read', args: { file_path: 'a.ts' } }
  const results = [
    { ...read, text: file },
    { ...read, text: file },
    { ...read, text: `// changed\n${lines.slice(4).join('\n')}` },
    { ...read, text: file, epoch: 1 },
  ].map(result => JSON.stringify({ epoch: 0, ...result }))
  writeFileSync(path, results.join('\n'))
  const argv = ['--json', '--url', service.url, '--transcript', transcript, path]
  const replay = await captureCli('replay', ...argv)
  expect(replay).toMatchObject({ code: 0, stderr: '' })
  const { total, hints } = JSON.parse(replay.stdout)
  expect(total).toMatchObject({ results: 4, restored: 4 })
  expect(total.saved_tokens.exact).toBeGreaterThan(0)
  expect(total.saved_tokens.lines).toBeGreaterThan(0)
  expect(hints).toEqual({ sent: 2, failed: 0 })
  expect(readFileSync(transcript, 'utf8')).toContain('{"event":"compaction"')

  const verified = await captureCli('verify', '--url', service.url, transcript)
  expect(verified.stdout).toBe('4 answers, 2 hints, 2 ids asked for: all true.\n')
  const other = await startSmallService({ workers: { count: 1 } })
  const elsewhere = await captureCli('verify', '--url', other.url, transcript)
  await other.close()
  expect(elsewhere.code).toBe(1)
  expect(elsewhere.stdout).toMatch(/2 +s#\w+ +reference +\w{8} cannot be redeemed/)
})

it('encodes at a service what leaves parts out, and says what saved how much', async () => {
  writeFileSync(path, file)
  const argv = ['encode', '--mode', 'trim', '--budget', '200', '--tool', 'tail']
  const { code, stdout, stderr } = await captureCli(...argv, '--url', `${service.url}/`, path)
  expect(code).toBe(0)
  expect(stderr).toMatch(/; saved: dedup 0, encoder \d+, omission [1-9]\d*; hints: elision\n$/)
  const hash = /hash=(\w{24})/.exec(stdout)?.[1] ?? ''
  expect((await captureCli('get', '--url', service.url, hash)).stdout).toBe(file)
  const tight = ['encode', '--budget', '2', '--url', service.url, path]
  expect(await captureCli(...tight)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^haversack: budget_too_small: /),
  })
})
