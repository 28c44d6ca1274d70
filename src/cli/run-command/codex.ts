import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { parse } from 'smol-toml'
import type { Env } from '../../config/env.ts'

/** A command line of Codex, which takes its base URL from its own configuration and passes over the environment. */
export interface CodexCommand {
  /** The base URL that it would have reached; `undefined`: its vendor's. */
  readonly baseUrl: string | undefined
  /** The same command line with another base URL. */
  behind(url: string): [string, ...string[]]
}

/** Where those who log in with ChatGPT are served. */
const SUBSCRIPTION_URL = 'https://chatgpt.com/backend-api/codex'
/** The provider whose base URL `openai_base_url` is. */
const OWN_PROVIDER = 'openai'
/** Who says one of these decides where Codex goes. */
const DECIDING = /openai_base_url|model_provider|^--(?:oss|local-provider|profile)\b|^-p$/

/**
 * A command as one of Codex; `null` for other commands, and where the command line or Codex' configuration names a provider of
 * its own, or where Codex goes itself.
 */
export function codexCommand(
  command: readonly [string, ...string[]],
  env: Env,
): CodexCommand | null {
  const [program, ...args] = command
  if (!/^codex(?:\.exe|\.cmd)?$/.test(basename(program))) return null
  if (args.some(arg => DECIDING.test(arg))) return null
  const home = env['CODEX_HOME'] || join(env['HOME'] || homedir(), '.codex')
  const config = read(join(home, 'config.toml'), parse)
  const { openai_base_url: configured, model_provider: provider = OWN_PROVIDER } = config
  if (provider !== OWN_PROVIDER || config['profile'] !== undefined) return null
  const isByKey = env['CODEX_API_KEY'] !== undefined || !hasLogin(home)
  return {
    baseUrl: typeof configured === 'string' ? configured : isByKey ? undefined : SUBSCRIPTION_URL,
    behind: url => [program, '-c', `openai_base_url=${JSON.stringify(url)}`, ...args],
  }
}

/** Whether somebody has logged in with ChatGPT, as far as it is in a file. */
function hasLogin(home: string): boolean {
  const { auth_mode: mode, tokens, OPENAI_API_KEY: key } = read(join(home, 'auth.json'), JSON.parse)
  if (typeof mode === 'string') return mode === 'chatgpt'
  return typeof tokens === 'object' && tokens !== null && typeof key !== 'string'
}

/** What Codex cannot read either it says itself. */
function read(path: string, parsed: (text: string) => unknown): Readonly<Record<string, unknown>> {
  try {
    const value = parsed(readFileSync(path, 'utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
