import { expect, it } from 'vitest'
import { agentOf } from '../../../../src/http/request/origin-of.ts'

it.each([
  ['claude-cli/2.1.86 (external, cli)', { agent: 'claude' }],
  ['codex_cli_rs/0.98.0 (Ubuntu 24.4.0; x86_64) xterm', { agent: 'codex' }],
  ['codex_exec/0.98.0', { agent: 'codex' }],
  ['opencode/1.2.3', { agent: 'opencode' }],
  ['GeminiCLI/0.9.0/gemini-2.5-pro (linux; x64)', { agent: 'gemini' }],
  ['QwenCode/0.1.0 (linux; x64)', { agent: 'qwen' }],
  ['OpenAI/JS 5.1.0', { client: 'openai' }],
  ['curl/8.5.0', { client: 'curl' }],
  ['', {}],
  ['<script>', {}],
  [`${'x'.repeat(99)}/1`, { client: 'x'.repeat(32) }],
])('knows the agent of %s', (userAgent, named) => {
  expect(agentOf(userAgent)).toEqual(named)
})
