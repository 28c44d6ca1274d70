import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { switchFetchingOn } from '../../../src/cli/setup/command.ts'
import { editTomlTable } from '../../../src/cli/setup/edit-toml.ts'
import { captureCli } from '../../support/capture.ts'

const home = mkdtempSync(join(tmpdir(), 'haversack-redeem-'))
const config = join(home, 'haversack.toml')

beforeEach(() => {
  vi.stubEnv('HOME', home)
  vi.stubEnv('CLAUDE_CONFIG_DIR', '')
  vi.stubEnv('HAVERSACK_CONFIG', config)
  writeFileSync(config, 'port = 9000\n')
})
afterEach(() => void vi.unstubAllEnvs())
afterAll(() => rmSync(home, { recursive: true }))

const written = () => readFileSync(config, 'utf8')
const SET = 'port = 9000\n\n[proxy]\nredeem = "auto"\n'
const setup = (...more: string[]) =>
  captureCli('setup', 'claude', '--url', 'http://127.0.0.1:1', ...more)

describe('setup', () => {
  it('switches redeeming on by a flag, in the file of the service', async () => {
    const { code, stdout } = await setup('--redeem', '--yes')
    expect([code, written()]).toEqual([0, SET])
    expect(stdout).toContain('redeem = "auto"')
    // The agent's file is as it should be by now.
    writeFileSync(config, '')
    await setup('--redeem', '--yes')
    expect(written()).toBe('[proxy]\nredeem = "auto"\n')
  })

  it.each([
    [true, SET],
    [false, 'port = 9000\n'],
  ])('asks at a terminal, and an answer of %s counts', async (answer, after) => {
    const ask = vi.fn(async (_question: string) => answer)
    await switchFetchingOn(config, {}, { isTerminal: true, ask })
    expect(ask).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('lose parts'))
    expect(written()).toBe(after)
  })

  it('changes it neither unasked, nor when it only shows', async () => {
    await setup('--yes')
    const { stdout } = await setup('--redeem', '--print')
    expect(stdout).toContain('redeem = "auto"')
    expect(written()).toBe('port = 9000\n')
  })

  it('needs the name of the file', async () => {
    vi.stubEnv('HAVERSACK_CONFIG', '')
    const { code, stderr } = await setup('--redeem', '--yes')
    expect([code, stderr]).toEqual([2, expect.stringContaining('HAVERSACK_CONFIG')])
  })
})

describe('a key in a table of TOML', () => {
  const set = (text: string) => editTomlTable(text, ['proxy', 'redeem'], 'auto')

  it.each([
    ['', '[proxy]\nredeem = "auto"\n'],
    ['a = 1', 'a = 1\n[proxy]\nredeem = "auto"\n'],
    ['[proxy] # ours\nb = 2\n[x]\n', '[proxy] # ours\nredeem = "auto"\nb = 2\n[x]\n'],
    ['[proxy]\r\nredeem = "off"\r\n[x]\r\n', '[proxy]\r\nredeem = "auto"\r\n[x]\r\n'],
    ['[x]\nredeem = "off"\n', '[x]\nredeem = "off"\n\n[proxy]\nredeem = "auto"\n'],
    ['proxy.redeem = "auto"\n', 'proxy.redeem = "auto"\n'],
  ])('%j becomes %j', (before, after) => {
    expect(set(before)).toBe(after)
  })

  it.each(['proxy = { redeem = "off" }\n', 'a = """\n[proxy]\n"""\n'])('%j is refused', text => {
    expect(() => set(text)).toThrow('by hand')
  })
})
