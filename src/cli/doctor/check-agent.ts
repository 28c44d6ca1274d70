import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Env } from '../../config/env.ts'
import { readConfigFile } from '../../console/replace-file.ts'
import type { Agent } from '../setup/agents.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Whether an agent sends its requests to the service, and what says so. */
export function checkAgent(name: string, agent: Agent, service: string, env: Env): Finding {
  const check = `agent ${name}`
  const file = agent.file(env)
  const setup = `haversack setup ${name}`
  let text: string
  let inFile: readonly string[]
  try {
    text = readConfigFile(file) ?? ''
    inFile = agent.baseUrlsIn(text)
  } catch (error) {
    return fail(check, `${file}: ${(error as Error).message}`, 'mend the file')
  }
  const { variable } = agent
  const inEnv = variable === undefined ? undefined : env[variable] || undefined
  const baseUrls = inEnv === undefined ? inFile : [inEnv]
  const by = inEnv === undefined ? file : variable
  if (baseUrls.length === 0 && agent.hook?.commandIn(text) !== undefined) {
    return ok(check, `${file} names no base URL, but the hook`)
  }
  const [first] = baseUrls
  if (first === undefined) return fail(check, `${file} names no base URL`, setup)
  if (!baseUrls.some(url => url === service || url.startsWith(`${service}/`))) {
    const advice = inEnv === undefined ? setup : `unset ${variable}, then ${setup}`
    return fail(check, `${by} sends it to ${hostOf(first)}`, advice)
  }
  const obstacle = agent.obstacle?.(text, env)
  if (obstacle !== undefined) return fail(check, obstacle.found, obstacle.advice)
  return ok(check, `${by} sends it to the service`)
}

/** A base URL may have credentials. */
function hostOf(baseUrl: string): string {
  return URL.parse(baseUrl)?.host ?? 'what is no URL'
}

/** Longest wait for the program of the agent, in milliseconds. */
const PATIENCE_MS = 5_000
/** The first version that takes outputs from hooks. */
const LEAST_VERSION = '2.1.121'
/** Tried, and takes them for Bash; some versions before were reported to pass over them. */
const KNOWN_GOOD_VERSION = '2.1.197'

/** Whether Claude Code has the hook, and a version that takes what it answers. */
export async function checkClaudeHook(agent: Agent, service: string, env: Env): Promise<Finding> {
  const check = 'hook claude'
  const text = textOf(agent.file(env))
  const called = text === null ? undefined : hookIn(agent, text)
  if (called === undefined) return ok(check, 'not set')
  if (called !== service) {
    return fail(check, 'it calls another service', 'set --url to that of the hook')
  }
  if (text !== null && agent.baseUrlsIn(text).some(url => url.startsWith(`${service}/`))) {
    return warn(check, 'set beside the base URL of the service', 'take one of the two out')
  }
  return checkVersion(check, await versionOf('claude'))
}

function checkVersion(check: string, version: string | null): Finding {
  if (version === null) {
    return warn(check, 'set; claude --version tells no version', 'is claude on the PATH?')
  }
  if (isBefore(version, LEAST_VERSION)) {
    const advice = `update it to ${LEAST_VERSION} or later`
    return fail(check, `set, but Claude Code ${version} takes no outputs from hooks`, advice)
  }
  if (isBefore(version, KNOWN_GOOD_VERSION)) {
    const found = `set; Claude Code ${version} may pass over it for some tools`
    return warn(check, found, `update it to ${KNOWN_GOOD_VERSION} or later`)
  }
  return ok(check, `set; Claude Code ${version} takes its outputs`)
}

function textOf(file: string): string | null {
  try {
    return readConfigFile(file)
  } catch {
    // Another check reports it.
    return null
  }
}

function hookIn({ hook }: Agent, text: string): string | undefined {
  try {
    return hook?.commandIn(text)?.service
  } catch {
    return undefined
  }
}

async function versionOf(program: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: PATIENCE_MS })
    return /^\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null
  } catch {
    return null
  }
}

function isBefore(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) < 0
}
