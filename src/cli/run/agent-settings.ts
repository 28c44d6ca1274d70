import { basename } from 'node:path'
import type { Env } from '../../config/env.ts'
import { OWN_DIALECTS } from '../../core/dialects/lookup.ts'

/** An agent that `run` knows more of than variables with base URLs. */
interface KnownAgent {
  /** What it needs beside them to reach its model by the proxy; absent: nothing. */
  settings?(url: string, env: Env): Env
  /** Where it takes its base URL from before it takes it from the environment. */
  readonly deciding: string
}

/** By the names of programs. */
const KNOWN_AGENTS: Readonly<Record<string, KnownAgent>> = {
  claude: { deciding: 'env.ANTHROPIC_BASE_URL in ~/.claude/settings.json comes first' },
  codex: {
    deciding:
      'model_provider, profile or openai_base_url in ~/.codex/config.toml or after -c comes first',
  },
  opencode: {
    // It takes base URLs from no variable of its own. What is set already stays.
    settings: (url, env) =>
      env['OPENCODE_CONFIG_CONTENT'] ? {} : { OPENCODE_CONFIG_CONTENT: opencodeConfig(url) },
    deciding: 'the model must be one of its providers anthropic and openai',
  },
  gemini: {
    deciding:
      'security.auth.selectedType in ~/.gemini/settings.json must be "gemini-api-key", ' +
      'since Gemini CLI takes no key behind a base URL by itself',
  },
  qwen: {
    deciding:
      'security.auth.selectedType in ~/.qwen/settings.json must be "openai", without a baseUrl',
  },
  aider: { deciding: 'openai-api-base in .aider.conf.yml or in .env comes first' },
}

/**
 * The variables that an agent needs to reach its model by a proxy, beside those with base URLs;
 * nothing for most.
 */
export function agentSettings(program: string, url: string, env: Env): Env {
  return agentOf(program)?.settings?.(url, env) ?? {}
}

/** Which setting of an agent decides where its requests go; `null` for other programs. */
export function decidingSetting(program: string): string | null {
  return agentOf(program)?.deciding ?? null
}

/** The name of a program, as its users call it on any system. */
export function programName(program: string): string {
  return basename(program).replace(/\.(?:exe|cmd)$/, '')
}

function agentOf(program: string): KnownAgent | undefined {
  const name = programName(program)
  return Object.hasOwn(KNOWN_AGENTS, name) ? KNOWN_AGENTS[name] : undefined
}

function opencodeConfig(url: string): string {
  const provider = Object.fromEntries(
    OWN_DIALECTS.map(({ name }) => [name, { options: { baseURL: `${url}/${name}/v1` } }]),
  )
  return JSON.stringify({ provider })
}
