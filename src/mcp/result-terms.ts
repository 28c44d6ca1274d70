import type { ResultLimit, ResultPlace, ResultTerms } from '../core/contract/request-terms.ts'
import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import type { PublicEntry } from './catalogue.ts'
import type { ServerSettings } from './gateway-options.ts'
import { member } from './members.ts'
import { isLike } from './tool-patterns.ts'

/** What decides how the result of one call is treated. */
export interface TermsInput {
  readonly entry: PublicEntry
  readonly settings: ServerSettings
  /** Of the call, as the client sent them. */
  readonly params: JsonBytes
  readonly structured: ResultTerms['structured']
  readonly place: ResultPlace | null
  /** Of the client. */
  readonly limit: ResultLimit | null
}

export function resultTerms({
  entry: { server, key },
  settings,
  params,
  structured,
  place,
  limit,
}: TermsInput): ResultTerms {
  const args = member(params, 'arguments')
  const { mode, budget_tokens } = modeOf(key, settings)
  return {
    tool: `mcp__${server}__${key}`,
    mode,
    structured,
    ...(budget_tokens === undefined ? {} : { budget_tokens }),
    ...(args === undefined || args === null ? {} : { args: new Uint8Array(args) }),
    ...(place === null ? {} : { place }),
    ...(limit === null ? {} : { limit }),
  }
}

/** The terms of a resource that was read. Nothing says who reads it: it refers to nothing. */
export function resourceTerms(server: string): ResultTerms {
  return {
    tool: `mcp__${server}__resources/read`,
    mode: 'lossless',
    structured: 'keep',
    of: 'resource',
  }
}

/** Whether results of a server may have parts left out by its configuration. */
export function mayOmit({ mode, per_tool }: ServerSettings): boolean {
  return [mode, ...per_tool.map(({ terms }) => terms.mode)].some(
    each => each !== undefined && each !== 'lossless',
  )
}

/** The first pattern that a tool is like decides; without its budget that of the server holds. */
function modeOf(
  tool: string,
  { mode, budget_tokens, per_tool }: ServerSettings,
): Pick<ResultTerms, 'mode' | 'budget_tokens'> {
  const own = per_tool.find(({ pattern }) => isLike(tool, pattern))?.terms
  const budget = own?.budget_tokens ?? budget_tokens
  return { mode: own?.mode ?? mode, ...(budget === undefined ? {} : { budget_tokens: budget }) }
}
