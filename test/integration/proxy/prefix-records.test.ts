import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Step, turnBody } from '../../support/turns/bodies.ts'
import { ATTEMPT_HEADER, startRecordingVendor } from '../../support/turns/recording-vendor.ts'
import { STORE_THREAD, startSmallService } from '../service/harness.ts'

const OTHERWISE = '[mckp]\nformats_enabled = ["json_compact"]\n[templates]\nactive = []\n'

/** A table of its own for each conversation and step. */
function stepsOf(conversation: number): readonly Step[] {
  return Array.from({ length: 3 }, (_, n) => {
    const rows = Array.from({ length: 12 }, (_, i) => ({
      id: i,
      of: `${conversation}-${n}`,
      ok: true,
    }))
    return { tool: 'list', args: { n }, text: JSON.stringify(rows, null, 2), isError: false }
  })
}

/** Two services of two configurations with one store, and what arrives behind them. */
async function twoConfigurations() {
  const vendor = await startRecordingVendor()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-records-'))
  const start = (name: string, pipeline: string) => {
    const pipeline_config_file = join(folder, name)
    writeFileSync(pipeline_config_file, pipeline)
    const proxy = { anthropic_url: vendor.url }
    const data_dir = join(folder, 'data')
    const settings = { pipeline_config_file, data_dir, workers: { count: 1 }, proxy }
    return startSmallService(settings, STORE_THREAD)
  }
  const services = [await start('one.toml', ''), await start('other.toml', OTHERWISE)] as const
  onTestFinished(async () => {
    await Promise.all(services.map(service => service.close()))
    await vendor.close()
    rmSync(folder, { recursive: true })
  })

  /** What arrives of a conversation with so many steps. */
  async function send(which: 0 | 1, conversation: number, end: number): Promise<string> {
    const terms = { model: 'claude-sonnet-4-5', tools: ['list'] }
    const bytes = turnBody('anthropic_messages', stepsOf(conversation), { end, before: 0 }, terms)
    const attempt = `${which}/${conversation}/${end}`
    const { post } = services[which]
    const response = await post('/anthropic/v1/messages', bytes, { [ATTEMPT_HEADER]: attempt })
    await response.arrayBuffer()
    expect(response.status).toBe(200)
    return Buffer.from(vendor.take(attempt)!).toString()
  }

  /** Rewrites that threads of a service were given. */
  async function jobs(which: 0 | 1): Promise<number> {
    const metrics = await (await fetch(`${services[which].url}/metrics`)).text()
    const name = 'haversack_work_seconds_count{op="rewrite_anthropic_messages"'
    const lines = metrics.split('\n').filter(line => line.startsWith(name))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  return { send, jobs, folder, arrived: vendor.arrived }
}

describe('what is on record', () => {
  it('is asked for once, and at hand in the turns that follow', async () => {
    const { send, jobs } = await twoConfigurations()
    const sent = await send(0, 1, 2)
    expect(await send(1, 1, 2)).toBe(sent)
    // Once by itself, once by the record, and once with the configuration that it names.
    expect(await jobs(1)).toBe(3)
    expect(await send(1, 1, 2)).toBe(sent)
    expect(await jobs(1)).toBe(4)
    expect(await send(1, 2, 2)).not.toBe(await send(0, 3, 2))
  })

  it('is what the first of two processes sent, where neither knew of the other', async () => {
    const { send, arrived, folder } = await twoConfigurations()
    // The first of all rewrites take longer than a write is waited for.
    await Promise.all([send(0, 2, 1), send(1, 3, 1)])
    const others = new DatabaseSync(join(folder, 'data', 'store.sqlite'), { timeout: 10_000 })
    onTestFinished(() => others.close())
    // Both have asked for what there is before either can write.
    others.exec('BEGIN IMMEDIATE')
    const sent = Promise.all([send(0, 1, 2), send(1, 1, 2)])
    await arrived(4)
    others.exec('ROLLBACK')
    const [one, other] = await sent
    expect(one).not.toBe(other)
    const next = [await send(0, 1, 2), await send(1, 1, 2)]
    expect(next[0]).toBe(next[1])
    expect([one, other]).toContain(next[0])
    expect(await send(1, 1, 2)).toBe(next[0])
  })
})
