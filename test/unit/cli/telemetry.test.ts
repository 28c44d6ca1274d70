import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadTelemetryKey } from '../../../src/book/events/key-file.ts'
import { sinceMs } from '../../../src/cli/telemetry/command.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { captureCli } from '../../support/capture.ts'
import { temporaryFolder } from '../book/events/writer.ts'
import { eventOf, HIT } from '../core/telemetry/events.ts'

const HOUR_MS = 3_600_000

/** A data folder with two events of one tenant, one of another, and a torn line. */
function dataFolder(): string {
  const data = temporaryFolder()
  const key = loadTelemetryKey(data)
  const write = (tenant: string, text: string) => {
    const folder = join(data, 'telemetry', tenantFolder(key, tenant), 'events')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '0123456789abcdef-000000000001-00000000.jsonl'), text)
  }
  const now = Date.now()
  const lines = [
    eventOf({ ...HIT, endpoint_class: 'git_log', ts_ms: now }),
    eventOf({ sample_rate_applied: 0.5, ts_ms: now - 48 * HOUR_MS }),
  ]
  write('acme', `${lines.map(line => JSON.stringify(line)).join('\n')}\n{"torn`)
  write('emca', JSON.stringify(eventOf({ tokenizer: 'cl100k_base', ts_ms: now })))
  return data
}

const show = (data: string, ...argv: string[]) =>
  captureCli('telemetry', 'show', '--data', data, ...argv)

describe('haversack telemetry show', () => {
  it('names baseline and tokenizer of every percentage', async () => {
    const { code, stdout } = await show(dataFolder())
    expect(code).toBe(0)
    expect(stdout).toContain('tokens by o200k_base, baseline raw')
    expect(stdout).toContain('tokens by cl100k_base, baseline raw')
    expect(stdout).toMatch(/\nRead +2 +200 +0.0 % +0.0 % +50.0 % +0.0 % +50.0 %\n/)
    expect(stdout).toMatch(/\ngit_log +1 +100 +100.0 % +90.0 % +– +– +90.0 %\n/)
    expect(stdout).toMatch(/\nall +3 +300 +33.3 % +30.0 % +50.0 % +0.0 % +63.3 %\n/)
    expect(stdout).toContain('3 events in 2 files, 1 lines torn')
  })

  it('takes a tenant and a time', async () => {
    const data = dataFolder()
    const read = async (...argv: string[]) =>
      JSON.parse((await show(data, '--json', ...argv)).stdout)
    expect(await read('--since', '1d', '--tenant', 'acme')).toMatchObject({
      baseline: 'raw',
      tokenizers: [
        {
          tokenizer: 'o200k_base',
          total: { results: 1, dedup_savings_pct: 0.9, encoder_savings_pct: null },
          endpoints: [{ endpoint: 'git_log', combined_savings_pct: 0.9 }],
        },
      ],
    })
    expect((await read('--tenant', 'emca')).tokenizers).toHaveLength(1)
    expect((await read('--tenant', 'none')).tokenizers).toEqual([])
  })

  it('prints what calls ahead and references brought, if anything', async () => {
    const line = '\n\n# enrichment: prefetch_hit=n/a '
    const { stdout } = await show(dataFolder())
    expect(stdout).toContain(line)
    expect(stdout).toContain(' calls_saved=1 (prefetch=0, dedup=1, fail_fast=0) tokens_saved=100 ')
    const data = dataFolder()
    expect((await show(data, '--tenant', 'emca')).stdout).not.toContain('enrichment')
    const json = async (tenant: string) =>
      JSON.parse((await show(data, '--json', '--tenant', tenant)).stdout)
    expect((await json('acme')).enrichment).toEqual({ saved_dedup: 1, tokens_saved: 100 })
    expect(await json('emca')).not.toHaveProperty('enrichment')
  })

  it('says so where there is nothing, or the call is wrong', async () => {
    const empty = temporaryFolder()
    expect((await show(empty)).stdout).toContain('no events')
    expect((await show(empty, '--tenant', 'acme')).code).toBe(2)
    expect((await show(empty, '--since', 'soon')).code).toBe(2)
    expect((await captureCli('telemetry', 'hide')).code).toBe(2)
  })
})

describe('--since', () => {
  it.each([
    ['7d', 1e9 - 168 * HOUR_MS],
    ['12h', 1e9 - 12 * HOUR_MS],
    ['1970-01-02', 24 * HOUR_MS],
    ['1970-01-02T01:00:00Z', 25 * HOUR_MS],
    ['1970-13-45', null],
    ['-1d', null],
    ['', null],
    ['7', null],
  ])('%s', (text, expected) => {
    expect(sinceMs(text, 1e9)).toBe(expected)
  })
})
