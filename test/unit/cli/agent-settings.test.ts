import { describe, expect, it } from 'vitest'
import { agentSettings, decidingSetting } from '../../../src/cli/run/agent-settings.ts'

it.each(['node', 'constructor', '/bin/sh', ''])('knows nothing of %j', program => {
  expect(agentSettings(program, 'http://h/s', {})).toEqual({})
  expect(decidingSetting(program)).toBeNull()
})

it.each([
  ['claude', 'ANTHROPIC_BASE_URL'],
  ['/opt/bin/codex', 'openai_base_url'],
  ['opencode.cmd', 'provider'],
  ['gemini', 'selectedType'],
  ['qwen.exe', 'selectedType'],
  ['aider', 'openai-api-base'],
])('names what decides where %s sends its requests', (program, setting) => {
  expect(decidingSetting(program)).toContain(setting)
})

describe('opencode', () => {
  it('gets its base URLs as inline settings, unless it has such', () => {
    const { OPENCODE_CONFIG_CONTENT: text = '' } = agentSettings('opencode', 'http://h/s', {})
    expect(JSON.parse(text)).toEqual({
      provider: {
        anthropic: { options: { baseURL: 'http://h/s/anthropic/v1' } },
        openai: { options: { baseURL: 'http://h/s/openai/v1' } },
      },
    })
    const own = { OPENCODE_CONFIG_CONTENT: '{}' }
    expect(agentSettings('opencode', 'http://h/s', own)).toEqual({})
  })
})
