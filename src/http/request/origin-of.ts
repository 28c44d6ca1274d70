import type { Origin } from '../../book/rows/day-sums.ts'
import type { AppContext } from '../context.ts'
import { projectTerm } from './project-of.ts'
import { requestHeader } from './request-header.ts'

/** Agents by how their user agents begin. */
const AGENTS = [
  ['claude', /^claude-(?:cli|code)\b/i],
  ['codex', /^codex/i],
  ['opencode', /^opencode\b/i],
  ['gemini', /^gemini-?cli\b/i],
  ['qwen', /^qwen-?code\b/i],
  ['copilot', /^(?:github-?copilot|copilot)/i],
  ['cursor', /^cursor\b/i],
  ['aider', /^aider\b/i],
  ['goose', /^goose\b/i],
  ['crush', /^(?:charm-)?crush\b/i],
] as const

/** The name of a product in a user agent (RFC 9110 §10.1.5). */
const PRODUCT = /^[\w.-]{1,32}/

/** Where a request came from, as its headers say. */
export function originOf(c: AppContext): Origin {
  return { ...projectTerm(c), ...agentOf(requestHeader(c, 'user-agent')) }
}

/** @param userAgent the header; absent: nothing is known */
export function agentOf(userAgent = ''): Pick<Origin, 'agent' | 'client'> {
  const agent = AGENTS.find(([, begin]) => begin.test(userAgent))?.[0]
  if (agent !== undefined) return { agent }
  const client = PRODUCT.exec(userAgent)?.[0].toLowerCase()
  return client === undefined ? {} : { client }
}
