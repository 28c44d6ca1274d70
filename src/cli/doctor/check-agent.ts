import type { Env } from '../../config/env.ts'
import { readConfigFile } from '../../console/replace-file.ts'
import type { Agent } from '../setup/agent.ts'
import { type Finding, fail, ok } from './finding.ts'

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
