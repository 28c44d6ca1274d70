import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Env } from '../../config/env.ts'
import { hasChatGptLogin } from '../run-command/codex.ts'
import { type AgentHook, CLAUDE_HOOK } from './claude-hook.ts'
import { type AgentStatusLine, CLAUDE_STATUS_LINE } from './claude-status-line.ts'
import { dotenvAt, editDotenv } from './edit-dotenv.ts'
import { editJson, jsonAt } from './edit-json.ts'
import { editToml, tomlAt } from './edit-toml.ts'

/** An agent whose configuration names its base URL in a file. */
export interface Agent {
  /** The user's file. */
  file(env: Env): string
  /** The base URL for an agent of a service. */
  baseUrl(service: string, env: Env): string
  /**
   * The text of the file with the base URL. @throws Error if the text cannot be changed so that
   * nothing else changes
   */
  withBaseUrl(text: string, baseUrl: string): string
  /** The base URL in the text of the file; `undefined` if there is none. */
  baseUrlIn(text: string): string | undefined
  /** The variable that takes precedence over the file; absent: there is none. */
  readonly variable?: string
  /** What the service needs, as a sentence or as lines of its configuration. */
  upstream(env: Env): string
  /** What in the text of the file keeps the agent from using the base URL, as a sentence. */
  obstacleIn?(text: string): string | undefined
  /** Makes results smaller without a base URL; absent: the agent has nothing like it. */
  readonly hook?: AgentHook
  /** A line that shows what a session saved; absent: the agent has nothing like it. */
  readonly statusLine?: AgentStatusLine
}

const CLAUDE_URL = ['env', 'ANTHROPIC_BASE_URL'] as const
const OPENCODE_URL = ['provider', 'anthropic', 'options', 'baseURL'] as const
const OPENCODE_OPENAI_URL = ['provider', 'openai', 'options', 'baseURL'] as const
const CODEX_KEY = 'openai_base_url'
const GEMINI_UPSTREAM = `The service needs this upstream in its configuration file:

[[proxy.upstreams]]
name = "gemini"
url = "https://generativelanguage.googleapis.com"
dialect = "gemini"`

const ANTHROPIC_UPSTREAM =
  'Start the service with HAVERSACK_ANTHROPIC_URL=https://api.anthropic.com'
const OPENAI_UPSTREAM = 'Start the service with HAVERSACK_OPENAI_URL=https://api.openai.com'

/** By the names that `setup` and `doctor` take. */
export const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    file: env => join(env['CLAUDE_CONFIG_DIR'] || join(homeOf(env), '.claude'), 'settings.json'),
    baseUrl: service => `${service}/anthropic`,
    // With a base URL that is not Anthropic's own, Claude Code loads all tools at once unless told.
    withBaseUrl: (text, url) =>
      editJson(text, [
        [CLAUDE_URL, url],
        [['env', 'ENABLE_TOOL_SEARCH'], textAt(text, ['env', 'ENABLE_TOOL_SEARCH']) ?? 'true'],
      ]),
    baseUrlIn: text => textAt(text, CLAUDE_URL),
    variable: 'ANTHROPIC_BASE_URL',
    upstream: () => ANTHROPIC_UPSTREAM,
    hook: CLAUDE_HOOK,
    statusLine: CLAUDE_STATUS_LINE,
  },
  codex: {
    file: env => join(codexHome(env), 'config.toml'),
    baseUrl: (service, env) =>
      hasChatGptLogin(codexHome(env)) ? `${service}/openai` : `${service}/openai/v1`,
    withBaseUrl: (text, url) => editToml(text, CODEX_KEY, url),
    baseUrlIn: text => asText(tomlAt(text, CODEX_KEY)),
    obstacleIn(text) {
      const provider = asText(tomlAt(text, 'model_provider')) ?? 'openai'
      if (provider === 'openai') return undefined
      return `model_provider = "${provider}" has a base URL of its own, which is used instead.`
    },
    upstream: env =>
      hasChatGptLogin(codexHome(env))
        ? 'Start the service with HAVERSACK_OPENAI_URL=https://chatgpt.com/backend-api/codex'
        : OPENAI_UPSTREAM,
  },
  opencode: {
    file(env) {
      const folder = join(env['XDG_CONFIG_HOME'] || join(homeOf(env), '.config'), 'opencode')
      const withComments = join(folder, 'opencode.jsonc')
      return existsSync(withComments) ? withComments : join(folder, 'opencode.json')
    },
    baseUrl: service => `${service}/anthropic/v1`,
    withBaseUrl: (text, url) =>
      editJson(text, [
        [OPENCODE_URL, url],
        [OPENCODE_OPENAI_URL, url.replace(/\/anthropic\/v1$/, '/openai/v1')],
      ]),
    baseUrlIn: text => textAt(text, OPENCODE_URL),
    upstream: () => `${ANTHROPIC_UPSTREAM} HAVERSACK_OPENAI_URL=https://api.openai.com`,
  },
  gemini: {
    file: env => join(env['GEMINI_CLI_HOME'] || homeOf(env), '.gemini', '.env'),
    baseUrl: service => `${service}/up/gemini`,
    withBaseUrl: (text, url) => editDotenv(text, 'GOOGLE_GEMINI_BASE_URL', url),
    baseUrlIn: text => dotenvAt(text, 'GOOGLE_GEMINI_BASE_URL'),
    variable: 'GOOGLE_GEMINI_BASE_URL',
    upstream: () => GEMINI_UPSTREAM,
  },
  qwen: {
    file: env => join(homeOf(env), '.qwen', '.env'),
    baseUrl: service => `${service}/openai/v1`,
    withBaseUrl: (text, url) => editDotenv(text, 'OPENAI_BASE_URL', url),
    baseUrlIn: text => dotenvAt(text, 'OPENAI_BASE_URL'),
    variable: 'OPENAI_BASE_URL',
    upstream: () => 'Start the service with HAVERSACK_OPENAI_URL=URL, your provider',
  },
}

function homeOf(env: Env): string {
  return env['HOME'] || homedir()
}

function codexHome(env: Env): string {
  return env['CODEX_HOME'] || join(homeOf(env), '.codex')
}

function textAt(json: string, path: readonly string[]): string | undefined {
  return asText(jsonAt(json, path))
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
