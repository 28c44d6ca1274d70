import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'smol-toml'
import type { Env } from '../../config/env.ts'
import { ownHome } from '../../config/user-folders.ts'

/**
 * A command line of Codex, which takes its base URL from its own configuration and ignores the
 * environment.
 */
export interface CodexCommand {
  /** The base URL that it would have reached; `undefined`: its vendor's. */
  readonly baseUrl: string | undefined
  /** The same command line with another base URL. */
  behind(url: string): [string, ...string[]]
}

/** The base URL for users who log in with ChatGPT. */
const SUBSCRIPTION_URL = 'https://chatgpt.com/backend-api/codex'
/** The provider whose base URL `openai_base_url` is. */
const OWN_PROVIDER = 'openai'
/** Options that decide where Codex goes. */
const DECIDING = /^--(?:oss|local-provider|profile)\b|^-p/
/** The option for settings, and those settings that decide where it goes. */
const SETTING = /^(?:-c|--config(?=$|=))/
const DECIDING_SETTING = /openai_base_url|model_provider/
/** Its commands without a terminal; the others ignore `CODEX_API_KEY`. */
const UNATTENDED = /^(?:exec|e|review)$/

/**
 * A command as one of Codex. Returns `null` for other commands, and if the command line or Codex'
 * configuration names a provider of its own, or the URL that Codex goes to.
 */
export function codexCommand(
  command: readonly [string, ...string[]],
  env: Env,
): CodexCommand | null {
  const [program, ...args] = command
  if (!/^codex(?:\.exe|\.cmd)?$/.test(basename(program))) return null
  if (args.some((arg, i) => decides(arg, args[i - 1]))) return null
  const home = env['CODEX_HOME'] || join(env['HOME'] || ownHome(), '.codex')
  const config = read(join(home, 'config.toml'), parse)
  const { openai_base_url: configured, model_provider: provider = OWN_PROVIDER } = config
  if (provider !== OWN_PROVIDER || config['profile'] !== undefined) return null
  const hasKey = isGiven(env['CODEX_API_KEY']) && args.some(arg => UNATTENDED.test(arg))
  const isSubscribed = !hasKey && (isGiven(env['CODEX_ACCESS_TOKEN']) || hasChatGptLogin(home))
  const served = isSubscribed ? SUBSCRIPTION_URL : undefined
  return {
    baseUrl: isGiven(configured) ? configured : served,
    behind: url => [program, '-c', `openai_base_url=${JSON.stringify(url)}`, ...args],
  }
}

/**
 * Whether an argument decides where Codex goes. A prompt may contain the same words, so a setting
 * counts only with its option.
 */
function decides(arg: string, before = ''): boolean {
  if (DECIDING.test(arg)) return true
  const isSetting = SETTING.test(arg) || before === '-c' || before === '--config'
  return isSetting && DECIDING_SETTING.test(arg)
}

function isGiven(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

/** Whether the user has logged in with ChatGPT, as far as it is in a file of Codex' folder. */
export function hasChatGptLogin(home: string): boolean {
  const { auth_mode: mode, tokens, OPENAI_API_KEY: key } = read(join(home, 'auth.json'), JSON.parse)
  if (typeof mode === 'string') return mode !== 'apikey'
  return typeof tokens === 'object' && tokens !== null && typeof key !== 'string'
}

/** A file that cannot be read counts as empty: Codex reports it itself. */
function read(path: string, parsed: (text: string) => unknown): Readonly<Record<string, unknown>> {
  try {
    const value = parsed(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
