import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { codexCommand } from '../../../src/cli/run/codex.ts'

let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'haversack-codex-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const file = (name: string, text: string) => writeFileSync(join(home, name), text)
const of = (...command: [string, ...string[]]) => codexCommand(command, { CODEX_HOME: home })

describe('a command line of Codex', () => {
  it('is told its base URL before all else', () => {
    const command = of('/usr/bin/codex', 'exec', '--json', 'say "hi"')
    expect(command?.behind('http://127.0.0.1:1/openai/v1')).toEqual([
      '/usr/bin/codex',
      '-c',
      'openai_base_url="http://127.0.0.1:1/openai/v1"',
      'exec',
      '--json',
      'say "hi"',
    ])
    expect(command?.baseUrl).toBeUndefined()
  })

  it.each<[string, [string, ...string[]]]>([
    ['another program', ['codexer']],
    ['a shell', ['sh', '-c', 'codex']],
    ['a base URL', ['codex', '-c', 'openai_base_url="http://x/v1"']],
    ['a provider', ['codex', '-c', 'model_provider="azure"', 'exec']],
    ['local models', ['codex', '--oss']],
    ['a profile', ['codex', '--profile=work']],
    ['a profile by its short name', ['codex', '-p', 'work']],
    ['a profile right behind its short name', ['codex', '-pwork', 'exec']],
    ['a setting right behind its option', ['codex', '-copenai_base_url="http://x/v1"']],
    ['a long setting', ['codex', 'exec', '--config=model_provider="azure"']],
  ])('is left as it is with %s', (_, command) => {
    expect(of(...command)).toBeNull()
  })

  it('may be asked about settings', () => {
    const asked = ['exec', 'which model_provider is it, and which openai_base_url?'] as const
    expect(
      of('codex', '-c', 'model="gpt-5"', ...asked)
        ?.behind('http://x')
        .slice(3),
    ).toEqual([...['-c', 'model="gpt-5"'], ...asked])
  })

  it.each([
    ['a provider of its own', 'model_provider = "azure"\n'],
    ['a profile', 'profile = "work"\n'],
  ])('is left as it is where its configuration names %s', (_, config) => {
    file('config.toml', config)
    expect(of('codex')).toBeNull()
  })
})

describe('what Codex would have reached', () => {
  it.each<[string, object]>([
    ['a login', { auth_mode: 'chatgpt', tokens: {} }],
    ['a login that another program holds', { auth_mode: 'chatgptAuthTokens', tokens: {} }],
    ['a login of older versions', { OPENAI_API_KEY: null, tokens: { access_token: 'x' } }],
  ])('is the subscription with %s', (_, auth) => {
    file('auth.json', JSON.stringify(auth))
    expect(of('codex')?.baseUrl).toBe('https://chatgpt.com/backend-api/codex')
    const env = { CODEX_HOME: home, CODEX_API_KEY: 'sk' }
    for (const command of ['exec', 'e', 'review']) {
      expect(codexCommand(['codex', command], env)?.baseUrl).toBeUndefined()
    }
  })

  it('is the subscription where a key is empty, or for a terminal', () => {
    file('auth.json', '{"auth_mode":"chatgpt"}')
    const SUBSCRIPTION = 'https://chatgpt.com/backend-api/codex'
    for (const [key, ...args] of [['sk'], ['sk', 'resume'], ['', 'exec'], [' ', 'exec']]) {
      const env = { CODEX_HOME: home, CODEX_API_KEY: key }
      expect(codexCommand(['codex', ...args], env)?.baseUrl).toBe(SUBSCRIPTION)
    }
  })

  it('is the subscription where the configuration leaves the base URL empty', () => {
    file('auth.json', '{"auth_mode":"chatgpt"}')
    file('config.toml', 'openai_base_url = ""\n')
    expect(of('codex')?.baseUrl).toBe('https://chatgpt.com/backend-api/codex')
  })

  it('is the subscription with a token of it', () => {
    const env = { CODEX_HOME: home, CODEX_ACCESS_TOKEN: 'at' }
    expect(codexCommand(['codex'], env)?.baseUrl).toBe('https://chatgpt.com/backend-api/codex')
  })

  it.each<[string, string]>([
    ['a key', '{"auth_mode":"apikey","OPENAI_API_KEY":"sk"}'],
    ['a key of older versions', '{"OPENAI_API_KEY":"sk","tokens":{}}'],
    ['nothing that can be read', '{'],
    ['nothing', 'null'],
  ])('is its vendor with %s', (_, auth) => {
    file('auth.json', auth)
    const command = of('codex')
    expect(command).not.toBeNull()
    expect(command?.baseUrl).toBeUndefined()
  })

  it('is what its configuration says, whoever has logged in', () => {
    file('auth.json', '{"auth_mode":"chatgpt"}')
    file('config.toml', 'openai_base_url = "https://gateway/v1"\nmodel_provider = "openai"\n')
    expect(of('codex')?.baseUrl).toBe('https://gateway/v1')
  })

  it('is looked for at home', () => {
    expect(codexCommand(['codex'], { HOME: home })?.baseUrl).toBeUndefined()
  })
})
