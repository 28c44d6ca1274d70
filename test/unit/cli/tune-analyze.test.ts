import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Fingerprint } from '../../../src/core/fingerprints/fingerprint.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { Tuned } from '../../../src/lab/versions/tuned.ts'
import { dataFolder, SECRET, writeLogs } from '../../support/agent-logs.ts'
import { captureCli } from '../../support/capture.ts'
import { row } from '../fingerprints/rows.ts'

function tuneIn(data: string) {
  return (...argv: string[]) => captureCli('tune', ...argv, '--data', data)
}

/** The tuned file, its versions and the proposals. */
function tunedFiles(data: string): readonly string[] {
  const names = readdirSync(join(data, 'tuned'), { recursive: true, encoding: 'utf8' })
  return names
    .filter(name => /\.(?:toml|json)$/.test(name))
    .map(name => readFileSync(join(data, 'tuned', name), 'utf8'))
}

/** What a team was found to know, of so many days ago. */
function writeTeam(data: string, rows: readonly Partial<Fingerprint>[], days = 1): void {
  const folder = join(data, 'fingerprints', tenantFolder(new Uint8Array(32), 'local'))
  const last_seen_ms = Date.now() - days * 86_400_000
  const first_seen_ms = last_seen_ms - 86_400_000
  const fingerprints = rows.map(each => {
    const known = row({ endpoint_class: 'Read', dup_rate: 0, call_count: 1_000 })
    return { ...known, first_seen_ms, last_seen_ms, stale: false, ...each }
  })
  const head = { version: 1, generated_at: Date.now(), window_days: 30, k: 5, team: 'backend' }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'team.json'), JSON.stringify({ ...head, fingerprints, left_out: 0 }))
}

function expectNoSecret(texts: readonly string[], count: number): void {
  expect(texts).toHaveLength(count)
  for (const text of texts) {
    for (const planted of [SECRET, 'file3-1', 'const v']) expect(text).not.toContain(planted)
  }
}

describe('haversack tune analyze', () => {
  it('switches elision of a class off if agents need what it hides, and back on by revert', async () => {
    const data = dataFolder()
    const tune = tuneIn(data)
    const log = writeLogs(data, true)
    const analyzed = await tune('analyze', log, '--json')
    const { candidates, together } = JSON.parse(analyzed.stdout)
    const off = candidates.find(({ rule }: { rule: string }) => rule === 'R6')
    expect(off).toMatchObject({
      ...{ key: 'endpoint_overrides.Read.elision_enabled', to: false, verdict: 'applies' },
      evidence: expect.stringMatching(/^\d+ markers, \d+ needed \(100\.0 %\)/),
    })
    expect(together.isAccepted).toBe(true)
    // Nothing is written before `apply`.
    expect(existsSync(join(data, 'tuned', 'local.toml'))).toBe(false)
    expect((await tune('diff')).stdout).toContain(
      '+ endpoint_overrides.Read.elision_enabled = false\n',
    )
    expect((await tune('apply')).code).toBe(0)
    const shown = await tune('show')
    expect(shown.stdout).toContain('elision_enabled = false')
    expectNoSecret([analyzed.stdout, analyzed.stderr, shown.stdout, ...tunedFiles(data)], 6)
    // The tuned file is one of the layers now, so that the analysis is of another configuration.
    expect((await tune('apply')).stderr).toContain('run `haversack tune analyze` again')
    const after = JSON.parse((await tune('analyze', '--logs', log, '--json')).stdout)
    expect(after.candidates.filter(({ rule }: { rule: string }) => rule === 'R6')).toEqual([])
    expect((await tune('revert')).stderr).toContain('- endpoint_overrides.Read.elision_enabled')
    expect((await tune('show')).stdout).not.toContain('elision_enabled = false')
  })

  it('takes what others know until there are own results, and judges it then', async () => {
    const data = dataFolder()
    const tune = tuneIn(data)
    writeTeam(data, [
      { elided: 0.5, needed: 0.4 },
      { endpoint_class: 'Grep', elided: 0.5 },
    ])
    const few = await tune('analyze', writeLogs(data, false, 2))
    expect(few.stdout).toMatch(/R6 +endpoint_overrides\.Read\.elision_enabled = false .*prior/)
    expect(few.stdout).toContain('1 proposed by figures of others, and judged once there are own')
    expect((await tune('apply')).code).toBe(0)
    expect((await tune('show')).stdout).toContain('rule = "R6 (prior)"')
    const off = { elision_enabled: false }
    expect(new Tuned(data, 'local').inForce().now).toMatchObject({
      config: { endpoint_overrides: { Read: off } },
    })
    // By own results nothing is needed, so leaving out pays after all.
    const after = JSON.parse((await tune('analyze', writeLogs(data, false, 20), '--json')).stdout)
    expect(after.candidates.filter(({ rule }: { rule: string }) => rule === 'R6')).toMatchObject([
      { key: 'endpoint_overrides.Read.elision_enabled', to: true, verdict: 'applies' },
    ])
    expect((await tune('apply')).code).toBe(0)
    expect((await tune('show')).stdout).not.toContain('(prior)')
  })

  it('believes no figure that is old, and is not led astray by names', async () => {
    const data = dataFolder()
    rmSync(join(data, 'pipeline_config.toml'))
    const tune = tuneIn(data)
    const lie = { elided: 1, needed: 1, dup_rate: 1, call_count: 1e11, source_sessions: 1e11 }
    const names = ['constructor', 'Read', '__proto__', 'toString', 'git_log']
    const team = names.map(endpoint_class => ({ ...lie, endpoint_class }))
    writeTeam(data, team, 31)
    const log = writeLogs(data, false, 2)
    expect((await tune('analyze', log)).stdout).not.toContain('prior')
    writeTeam(data, team)
    const { candidates } = JSON.parse((await tune('analyze', log, '--json')).stdout)
    const priors = candidates.filter((each: { verdict: string }) => each.verdict === 'prior')
    expect(priors.map(({ to }: { to: unknown }) => to)).toEqual(priors.map(() => false))
    expect((await tune('apply')).code).toBe(0)
    const { config } = new Tuned(data, 'local').inForce().now!
    expect(Object.keys(config['endpoint_overrides'] as object).sort()).toEqual(
      ['Read', 'constructor', 'git_log', 'toString'].sort(),
    )
    expect(({} as { elision_enabled?: boolean }).elision_enabled).toBeUndefined()
  })

  it('changes nothing if nothing is needed', async () => {
    const data = dataFolder()
    const tune = tuneIn(data)
    const { stdout } = await tune('analyze', writeLogs(data, false))
    expect(stdout).not.toContain('elision_enabled')
    expect(stdout).not.toMatch(/ applies /)
    expect((await tune('diff')).stdout).toBe('Nothing to change.\n')
    expect((await tune('apply')).stderr).toBe('Nothing to change.\n')
  })

  it('says what is saved in all, and what formats save of what references did not take', async () => {
    const data = dataFolder()
    const log = writeLogs(data, false, 4)
    const { stdout } = await tuneIn(data)('analyze', '--logs', log, '--json')
    const { combined_saving, encoder_share, classes } = JSON.parse(stdout)
    const sum = { tokens: 0, references: 0, formats: 0, omission: 0 }
    for (const each of classes) {
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += each[key]
    }
    const { tokens, references, formats, omission } = sum
    expect(combined_saving).toBeCloseTo((references + formats + omission) / tokens, 12)
    expect(encoder_share).toBeCloseTo(formats / (tokens - references), 12)
    const { stdout: text } = await tuneIn(data)('analyze', log)
    const shares = [references / tokens, encoder_share, omission / tokens, combined_saving]
    const cells = shares.map(share => `${(100 * share).toFixed(1)} %`).join(' +')
    expect(text).toMatch(/^class +results +tokens +references +encoder +omission +combined$/m)
    expect(text).toMatch(new RegExp(`^all +[\\d,]+ +[\\d,]+ +${cells}$`, 'm'))
  })

  it('says that a hand-written file shadows a proposal', async () => {
    const data = dataFolder()
    writeFileSync(
      join(data, 'pipeline_config.toml'),
      '[elision]\nenabled = true\n[endpoint_overrides."*"]\nelision_min_saved_tokens = 0\n',
    )
    const { stdout } = await tuneIn(data)('analyze', writeLogs(data, true), '--json')
    const { candidates } = JSON.parse(stdout)
    const off = candidates.find(({ rule }: { rule: string }) => rule === 'R6')
    expect(off).toMatchObject({ verdict: 'shadowed', chosen: null })
  })

  it('says too few of one session', async () => {
    const data = dataFolder()
    const { stdout } = await tuneIn(data)('analyze', writeLogs(data, true, 1), '--json')
    const { candidates } = JSON.parse(stdout)
    expect(candidates.every(({ verdict }: { verdict: string }) => verdict === 'too few')).toBe(true)
  })

  it('proposes nothing by logs of one class, one day, many models and projects, without usage', async () => {
    const data = dataFolder()
    const tune = tuneIn(data)
    const lines = Array.from({ length: 240 }, (_, n) => {
      const model = ['claude-opus-4-1', 'gpt-5', 'a/renamed-model'][n % 3]
      const args = { command: 'git log' }
      const at = { session: `p${n % 4}-s${n % 24}`, call_id: `c${n}`, cwd: `/home/me/p${n % 4}` }
      return { ...at, model, tool: 'Bash', args, text: `commit ${n * 7919}\nAuthor: ${SECRET}` }
    })
    const log = join(data, 'log.jsonl')
    writeFileSync(log, lines.map(line => JSON.stringify(line)).join('\n'))
    const { stdout, code } = await tune('analyze', log, '--json')
    expect(code).toBe(0)
    const { candidates, classes, results } = JSON.parse(stdout)
    expect([results, classes.length]).toEqual([240, 1])
    const verdicts = candidates.map(({ verdict }: { verdict: string }) => verdict)
    expect(verdicts).not.toContain('applies')
    expect((await tune('apply')).stderr).toBe('Nothing to change.\n')
    expectNoSecret([stdout, ...tunedFiles(data)], 2)
  })

  it('needs an analysis before diff and apply', async () => {
    const tune = tuneIn(dataFolder())
    expect(await tune('diff')).toMatchObject({ code: 2 })
    expect(await tune('apply')).toMatchObject({ code: 2 })
    expect(await tune('revert')).toMatchObject({ code: 2 })
    expect((await tune('show')).stdout).toBe('Nothing is tuned.\n')
  })
})

describe('haversack tune from-claude-logs', () => {
  it('says what the logs are of, and applies what the guard accepted, unless it is a dry run', async () => {
    const data = dataFolder()
    const tune = tuneIn(data)
    const logs = join(data, 'logs')
    mkdirSync(logs)
    writeLogs(logs, true)
    const dry = await tune('from-claude-logs', '--input-dir', logs, '--dry-run', '--days', '3650')
    expect(dry.stderr).toContain('# 14 conversations, 56 results (50.0 % reads), 0 compactions\n')
    expect(dry.stdout).toMatch(/elision_enabled = false .* applies /)
    expect((await tune('show')).stdout).toBe('Nothing is tuned.\n')
    const done = await tune('from-claude-logs', '--input-dir', logs)
    expect(done.stderr).toContain('+ endpoint_overrides.Read.elision_enabled = false\n')
    expect((await tune('show')).stdout).toContain('elision_enabled = false')
    const printed = [dry, done].flatMap(({ stdout, stderr }) => [stdout, stderr])
    expectNoSecret([...printed, ...tunedFiles(data)], 7)
    const tools = await tune('from-claude-logs', '--input-dir', logs, '--tools', '--json')
    expect(JSON.parse(tools.stdout)).toHaveProperty('tools')
    expect(await tune('from-claude-logs', '--input-dir', join(data, 'none'))).toMatchObject({
      code: 2,
    })
  })
})

describe('haversack tune skill', () => {
  it('prints a recipe whose commands run', async () => {
    const data = dataFolder()
    const logs = join(data, 'projects')
    const { stdout } = await captureCli('tune', 'skill')
    const commands = [...stdout.matchAll(/^ +haversack (.+)$/gm)].map(([, line]) => line as string)
    expect(commands).toHaveLength(7)
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('CLAUDE_CONFIG_DIR', data)
    vi.stubEnv('HAVERSACK_DATA_DIR', data)
    mkdirSync(logs)
    writeLogs(logs, true)
    for (const command of commands) {
      expect(await captureCli(...command.split(' ')), command).toMatchObject({ code: 0 })
    }
  })
})
