import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { captureCli } from '../../support/capture.ts'
import { startSmallService } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-replay-'))
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  service = await startSmallService({ workers: { count: 1 }, limits: { max_body_bytes: 1_000 } })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

describe('a replay against a service', () => {
  it('goes on after a result that is refused, and tells of it', async () => {
    const results = [
      { tool: 'list', text: '[{"a":1},{"a":2}]' },
      { tool: 'big', text: 'x'.repeat(2_000) },
      { tool: 'Read', text: 'a line' },
    ]
    const path = join(folder, 'session.jsonl')
    writeFileSync(path, results.map(result => JSON.stringify(result)).join('\n'))

    const sums = await captureCli('replay', '--json', '--url', service.url, path)
    expect(sums.code).toBe(1)
    expect(JSON.parse(sums.stdout)).toMatchObject({
      failed: 1,
      total: { results: 2, restored: 2 },
      tool: { list: { results: 1 }, Read: { results: 1 } },
    })
    expect(sums.stderr).toMatch(
      /^failed: result 2 \(big\): \/v1\/encode: 413 payload_too_large: .*\n$/,
    )
    const tables = await captureCli('replay', '--url', service.url, path)
    expect(tables).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Failed, and in no sum: 1.'),
    })
  })

  it('ends at once where no service is', async () => {
    const path = join(folder, 'one.txt')
    writeFileSync(path, 'a line')
    const url = 'http://127.0.0.1:1'
    expect(await captureCli('replay', '--url', url, path)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'haversack: no service answers at http://127.0.0.1:1\n',
    })
  })

  it('counts no failure where every answer comes', async () => {
    const path = join(folder, 'one.txt')
    writeFileSync(path, 'a line')
    const { code, stdout } = await captureCli('replay', '--json', '--url', service.url, path)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ failed: 0, total: { results: 1 } })
  })
})
