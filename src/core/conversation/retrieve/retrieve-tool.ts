import {
  RETRIEVE_DESCRIPTION,
  RETRIEVE_SCHEMA,
  RETRIEVE_TOOL,
} from '../../contract/retrieve-tool.ts'
import { bodyRules, type RouteName } from '../../dialects/lookup.ts'
import type { TokenCounters } from '../../tokens/counters.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'

/** The definition of our tool as JSON, always the same bytes; `undefined` for other routes. */
export function retrieveDefinition(route: RouteName): string | undefined {
  const { retrieving } = bodyRules(route)
  return (
    retrieving &&
    JSON.stringify(retrieving.define(RETRIEVE_TOOL, RETRIEVE_DESCRIPTION, RETRIEVE_SCHEMA))
  )
}

/** Tokens of the definition that a request has of us; 0 if it has none. */
export function tokensOfTool(
  levers: { readonly ownTool?: string | undefined } | null,
  { model }: Pick<ScannedRequest, 'model'>,
  { counters }: { readonly counters: TokenCounters },
): number {
  if (levers?.ownTool === undefined) return 0
  return counters.get(resolveTokenizer({ model })).count(levers.ownTool)
}
