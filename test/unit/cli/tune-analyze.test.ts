import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { dataFolder, SECRET, writeLogs } from '../../support/agent-logs.ts'
import { captureCli } from '../../support/capture.ts'

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
    const after = JSON.parse((await tune('analyze', log, '--json')).stdout)
    expect(after.candidates.filter(({ rule }: { rule: string }) => rule === 'R6')).toEqual([])
    expect((await tune('revert')).stderr).toContain('- endpoint_overrides.Read.elision_enabled')
    expect((await tune('show')).stdout).not.toContain('elision_enabled = false')
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

  it('says that a hand-written file shadows a proposal', async () => {
    const data = dataFolder()
    writeFileSync(join(data, 'pipeline_config.toml'), '[elision]\nenabled = true\n')
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
