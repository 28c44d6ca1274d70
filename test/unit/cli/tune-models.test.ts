import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { minedModelsOf } from '../../../src/config/mined-models.ts'
import { anonymousName } from '../../../src/core/telemetry/anonymous-name.ts'
import { listLogs } from '../../../src/lab/logs/list-logs.ts'
import { recordedSessions } from '../../../src/lab/tune/recorded-sessions.ts'
import { captureCli } from '../../support/capture.ts'
import { temporaryFolder } from '../book/events/writer.ts'
import { eventOf } from '../core/telemetry/events.ts'

/** A log as `haversack replay` reads it: customers with an order that is looked at, or not. */
function writeLog(isFollowed: (n: number) => boolean): string {
  const lines: object[] = []
  for (let n = 0; n < 200; n++) {
    const session = `s${n}`
    const text = JSON.stringify({ order: `order-${n}` })
    lines.push({ session, tool: 'get_customer', args: { name: `c${n}` }, text })
    const get = { session, tool: 'get_order', args: { order_id: `order-${n}` }, text: 'shipped' }
    if (isFollowed(n)) lines.push(get)
    for (let at = 0; at < 3; at++) lines.push({ session, tool: 'think', args: { at }, text: 'x' })
  }
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'log.jsonl'), lines.map(line => JSON.stringify(line)).join('\n'))
  return folder
}

/** Has the commands read this configuration. */
function configure(text: string): string {
  const path = join(temporaryFolder(), 'haversack.toml')
  writeFileSync(path, text)
  const before = process.env['HAVERSACK_CONFIG']
  process.env['HAVERSACK_CONFIG'] = path
  onTestFinished(() => {
    if (before === undefined) delete process.env['HAVERSACK_CONFIG']
    else process.env['HAVERSACK_CONFIG'] = before
  })
  return path
}

const tune = (...argv: string[]) => captureCli('tune', ...argv)

// Contract, section 7: `tune mine --tools`.
describe('haversack tune mine --tools', () => {
  it('prints models that the configuration takes', async () => {
    const { code, stdout } = await tune(
      'mine',
      '--tools',
      writeLog(n => n % 2 === 0),
    )
    expect(code).toBe(0)
    const follow_up = [
      { tool: 'get_order', projection: 'order', projection_arg: 'order_id', probability: 0.5 },
    ]
    const expected = {
      get_customer: { cost_model: { typical_kb: 0.021 }, follow_up },
      get_order: { cost_model: { typical_kb: 0.0068 } },
      think: { cost_model: { typical_kb: 0.00098 } },
    }
    expect(parse(stdout)).toEqual({ tools: expected })
    const data = temporaryFolder()
    writeFileSync(join(data, 'mined.toml'), stdout)
    expect(minedModelsOf(loadConfig({ env: { HAVERSACK_DATA_DIR: data } }))).toEqual(expected)
    const json = await tune(
      'mine',
      '--tools',
      '--json',
      writeLog(n => n % 2 === 0),
    )
    expect(JSON.parse(json.stdout)).toEqual({ tools: expected })
  })
})

describe('sessions of logs', () => {
  it('end at a compaction, and tell how long calls took', () => {
    const folder = temporaryFolder()
    const path = join(folder, 'log.jsonl')
    const at = (s: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, s)).toISOString()
    const use = { type: 'tool_use', id: 'c1', name: 'Read', input: { file_path: 'a' } }
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'text' }
    const head = { sessionId: 's', uuid: 'u' }
    const own = [
      {
        ...head,
        type: 'assistant',
        timestamp: at(1),
        message: { role: 'assistant', content: [use] },
      },
      { ...head, type: 'user', timestamp: at(3), message: { role: 'user', content: [result] } },
    ]
    const recorded = [0, 1].map(epoch => ({ session: 'r', tool: 'get', text: 'x', epoch }))
    writeFileSync(path, own.map(line => JSON.stringify(line)).join('\n'))
    writeFileSync(join(folder, 'more.jsonl'), recorded.map(line => JSON.stringify(line)).join('\n'))
    const sessions = [...recordedSessions(listLogs([folder])).values()]
    const facts = sessions.map(calls => calls.map(({ tool, tookMs }) => [tool, tookMs]))
    expect(facts).toEqual([[['Read', 2_000]], [['get', undefined]], [['get', undefined]]])
  })
})

// SOURCES.md#planner, R7; contract, section 9.
describe('haversack tune analyze --auto-enrichment', () => {
  it('plays recorded sessions, and proposes to switch calls ahead on', async () => {
    configure('')
    const analyze = (...argv: string[]) => tune('analyze', '--auto-enrichment', ...argv)
    const { code, stdout } = await analyze(writeLog(n => n % 5 > 0))
    expect(code).toBe(0)
    expect(stdout).toContain('[enrichment]\nenabled = true\n')
    const { proposals } = JSON.parse(
      (
        await analyze(
          '--json',
          writeLog(n => n % 5 > 0),
        )
      ).stdout,
    )
    expect(proposals).toMatchObject([
      { rule: 'R7', key: ['enrichment', 'enabled'], before: { prefetches: 0 } },
    ])
    const { prefetches, used } = proposals[0].after
    expect(used / prefetches).toBeGreaterThan(0.7)
    expect((await analyze(writeLog(n => n % 5 === 0))).stdout).toBe('Nothing is proposed.\n')
  })

  it('reads telemetry, and names tools as the configuration does', async () => {
    configure(
      '[mcp.servers.shop]\ncommand = "x"\n[tools.find]\nfollow_up = [{ tool = "read_page" }]',
    )
    const data = temporaryFolder()
    const folder = join(data, 'telemetry', '0123456789abcdef', 'events')
    mkdirSync(folder, { recursive: true })
    const event = (tool: string, at: number, used: number) =>
      eventOf({
        ...{ tool_name_anon: anonymousName(tool), enricher_prefetched: true },
        cited_in_next_n_turns: at < used,
      })
    const events = [
      ...Array.from({ length: 10 }, (_, at) => event('mcp__shop__read_page', at, 4)),
      ...Array.from({ length: 10 }, (_, at) => event('mcp__gone__x', at, 0)),
      ...Array.from({ length: 30 }, (_, at) => event('mcp__shop__find', at, 30)),
    ]
    const text = events.map(each => JSON.stringify(each)).join('\n')
    writeFileSync(join(folder, '0123456789abcdef-000000000001-00000000.jsonl'), text)
    const { stdout } = await tune('analyze', '--auto-enrichment', '--data', data)
    expect(stdout).toContain('[tools.shop__read_page]\nspeculate = false\n')
    expect(stdout).toContain(`[tools.${anonymousName('mcp__gone__x')}]\nspeculate = false\n`)
    expect(stdout).toMatch(/R7 +tools.shop__read_page.speculate +false +34 of 50 +30 of 40 +/)
    expect(stdout).not.toContain('enabled')
  })

  it('counts all fetches of telemetry, not only those whose offers were decided', async () => {
    configure('')
    const data = temporaryFolder()
    const folder = join(data, 'telemetry', '0123456789abcdef', 'events')
    mkdirSync(folder, { recursive: true })
    const tool_name_anon = anonymousName('mcp__shop__page')
    const events = Array.from({ length: 33 }, (_, at) => {
      const isUsed = at < 11
      const fetch = eventOf({ tool_name_anon, enricher_fetch: isUsed ? 'served' : 'wasted' })
      const offer = { tool_name_anon, enricher_prefetched: true, cited_in_next_n_turns: true }
      return isUsed ? [fetch, eventOf(offer)] : [fetch]
    })
    const text = events.flat().map(each => JSON.stringify(each))
    writeFileSync(join(folder, '0123456789abcdef-000000000001-00000000.jsonl'), text.join('\n'))
    const { stdout } = await tune('analyze', '--auto-enrichment', '--data', data)
    expect(stdout).toContain('11 of 33')
    expect(stdout).not.toContain('enabled')
  })
})
