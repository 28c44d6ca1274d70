import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Env } from '../../config/env.ts'
import { ownHome } from '../../config/user-folders.ts'
import { readConfigFile } from '../../console/replace-file.ts'
import { anthropic } from '../../core/dialects/anthropic.ts'
import { gemini } from '../../core/dialects/gemini.ts'
import { openai } from '../../core/dialects/openai.ts'
import { hasChatGptLogin } from '../run/codex.ts'
import {
  type AgentHook,
  type AgentStatusLine,
  CLAUDE_HOOK,
  CLAUDE_STATUS_LINE,
} from './claude-settings.ts'
import { dotenvAt, editDotenv } from './edit-dotenv.ts'
import { editJson, jsonAt } from './edit-json.ts'
import { editToml, tomlAt } from './edit-toml.ts'
import { apiBasesIn, modelsLeft, withApiBases } from './litellm-models.ts'

const CLAUDE_URL = ['env', 'ANTHROPIC_BASE_URL'] as const
const CLAUDE_HOUR = ['env', 'ENABLE_PROMPT_CACHING_1H'] as const
const OPENCODE_URL = ['provider', 'anthropic', 'options', 'baseURL'] as const
const OPENCODE_OPENAI_URL = ['provider', 'openai', 'options', 'baseURL'] as const
const CODEX_KEY = 'openai_base_url'
const GEMINI_UPSTREAM = `The service needs this upstream in its configuration file:

[[proxy.upstreams]]
name = "${gemini.name}"
url = "https://${gemini.host}"
dialect = "${gemini.name}"`

const ANTHROPIC_UPSTREAM = startedWith(anthropic)
const OPENAI_UPSTREAM = startedWith(openai)
const BOTH_UPSTREAMS = startedWith(anthropic, openai)

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
    baseUrlsIn: text => asList(textAt(text, CLAUDE_URL)),
    variable: anthropic.own.variables[0],
    upstream: () => ANTHROPIC_UPSTREAM,
    cacheHour: {
      with: text => editJson(text, [[CLAUDE_HOUR, '1']]),
      isIn: text => textAt(text, CLAUDE_HOUR) === '1',
    },
    hook: CLAUDE_HOOK,
    statusLine: CLAUDE_STATUS_LINE,
  },
  codex: {
    file: env => join(codexHome(env), 'config.toml'),
    baseUrl: (service, env) =>
      hasChatGptLogin(codexHome(env)) ? `${service}/openai` : `${service}/openai/v1`,
    withBaseUrl: (text, url) => editToml(text, CODEX_KEY, url),
    baseUrlsIn: text => asList(asText(tomlAt(text, CODEX_KEY))),
    obstacle(text) {
      const provider = asText(tomlAt(text, 'model_provider')) ?? 'openai'
      if (provider === 'openai') return undefined
      const found = `model_provider = "${provider}" has a base URL of its own, which is used instead`
      return { found, advice: 'use the provider openai' }
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
    baseUrlsIn: text => asList(textAt(text, OPENCODE_URL)),
    upstream: () => BOTH_UPSTREAMS,
  },
  gemini: {
    file: env => join(geminiFolder(env), '.env'),
    baseUrl: service => `${service}/up/${gemini.name}`,
    ...inDotenv(gemini.client.variable),
    obstacle: (_, env) => geminiObstacle(join(geminiFolder(env), 'settings.json')),
    upstream: () => GEMINI_UPSTREAM,
  },
  qwen: {
    file: env => join(homeOf(env), '.qwen', '.env'),
    baseUrl: service => `${service}/openai/v1`,
    ...inDotenv(openai.own.variables[0]),
    upstream: () => 'Start the service with HAVERSACK_OPENAI_URL=URL, your provider',
  },
  litellm: {
    // Where LiteLLM looks if it is not told, and its documents have it.
    file: env => resolve(env['CONFIG_FILE_PATH'] || 'config.yaml'),
    baseUrl: service => service,
    withBaseUrl: withApiBases,
    baseUrlsIn: apiBasesIn,
    upstream: () => BOTH_UPSTREAMS,
    left: modelsLeft,
  },
}

/** What starts a service that forwards to the vendors' own APIs. */
function startedWith(...served: readonly { readonly name: string; readonly host: string }[]) {
  const terms = served.map(
    ({ name, host }) => `HAVERSACK_${name.toUpperCase()}_URL=https://${host}`,
  )
  return `Start the service with ${terms.join(' ')}`
}

/** A base URL that is in a file of variables. */
function inDotenv(
  variable: string,
): Pick<Agent, 'withBaseUrl' | 'baseUrlsIn'> & { readonly variable: string } {
  return {
    withBaseUrl: (text, url) => editDotenv(text, variable, url),
    baseUrlsIn: text => asList(dotenvAt(text, variable)),
    variable,
  }
}

function homeOf(env: Env): string {
  return env['HOME'] || ownHome()
}

function geminiFolder(env: Env): string {
  return join(env['GEMINI_CLI_HOME'] || homeOf(env), '.gemini')
}

const GEMINI_CHOICE = ['security', 'auth', 'selectedType'] as const
/** With Google's login it has another service, and a base URL alone chooses no key. */
const GEMINI_KEYS = ['gemini-api-key', 'vertex-ai']

function geminiObstacle(settings: string): Obstacle | undefined {
  let chosen: string | undefined
  try {
    chosen = textAt(readConfigFile(settings) ?? '', GEMINI_CHOICE)
  } catch {
    return undefined // Gemini CLI reports it.
  }
  if (chosen !== undefined && GEMINI_KEYS.includes(chosen)) return undefined
  return {
    found: `${settings} chooses ${chosen ?? 'no sign-in'}, with which the base URL is not used`,
    advice: `set ${GEMINI_CHOICE.join('.')} to "gemini-api-key" there`,
  }
}

function codexHome(env: Env): string {
  return env['CODEX_HOME'] || join(homeOf(env), '.codex')
}

function textAt(json: string, path: readonly string[]): string | undefined {
  return asText(jsonAt(json, path))
}

function asList(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [text]
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

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
  /**
   * What `withBaseUrl` may have been given for the text of the file, and others' base URLs there;
   * most files have one at most.
   */
  baseUrlsIn(text: string): readonly string[]
  /** The variable that takes precedence over the file; absent: there is none. */
  readonly variable?: string
  /** What the service needs, as a sentence or as lines of its configuration. */
  upstream(env: Env): string
  /** What keeps the agent from using the base URL of the file; absent: nothing is known. */
  obstacle?(text: string, env: Env): Obstacle | undefined
  /** What of the text of the file stays without the base URL, as sentences. */
  left?(text: string): readonly string[]
  /** Makes results smaller without a base URL; absent: the agent has nothing like it. */
  readonly hook?: AgentHook
  /** Asks for prompt caches of an hour in its file, and says whether it does; absent: it cannot. */
  readonly cacheHour?: { with(text: string): string; isIn(text: string): boolean }
  /** A line that shows what a session saved; absent: the agent has nothing like it. */
  readonly statusLine?: AgentStatusLine
}

/** Something in an agent's own settings that decides against the base URL. */
interface Obstacle {
  readonly found: string
  /** What to do about it. */
  readonly advice: string
}
