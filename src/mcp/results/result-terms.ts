import type { ResultLimit, ResultPlace, ResultTerms } from '../../core/contract/request-terms.ts'
import { type ResponseBudget, readResponseBudget } from '../../core/contract/response-budget.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { PublicEntry } from '../catalogue/catalogue.ts'
import type { ServerSettings } from '../gateway-options.ts'
import { member, objectMember, textMember } from '../members.ts'

/** What decides how the result of one call is treated. */
export interface TermsInput {
  readonly entry: PublicEntry
  readonly settings: ServerSettings
  /** The parameters of the call, as the client sent them. */
  readonly params: JsonBytes
  readonly structured: ResultTerms['structured']
  readonly place: ResultPlace | null
  /** The client's limit. */
  readonly limit: ResultLimit | null
}

/** The member of `_meta` with a host's wish: a level, or tokens as a number or a text. */
const WISH = 'haversack/response_budget'

/** The host's wish for the result of a call; `null` if it states none that can be read. */
export function responseBudgetOf(params: JsonBytes): ResponseBudget | null {
  const meta = objectMember(params, '_meta')
  const wish = meta === null ? null : (textMember(meta, WISH) ?? member(meta, WISH)?.toString())
  return wish === null || wish === undefined ? null : readResponseBudget(wish)
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
  const { mode, budget_tokens } = settings
  const wish = responseBudgetOf(params)
  return {
    tool: `mcp__${server}__${key}`,
    mode,
    structured,
    ...(budget_tokens === undefined ? {} : { budget_tokens }),
    ...(wish === null ? {} : { response_budget: wish }),
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
    response_budget: 'full',
  }
}

/** The terms of a JSON text of a server that is not encoded, such as an error or a prompt. */
export function escapedTerms(server: string): ResultTerms {
  return { ...resourceTerms(server), of: 'strings' }
}

/** Whether results of a server may have parts left out by its configuration. */
export function mayOmit({ mode }: ServerSettings): boolean {
  return mode !== 'lossless'
}
