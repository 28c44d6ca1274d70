import {
  RETRIEVE_DESCRIPTION,
  RETRIEVE_SCHEMA,
  RETRIEVE_TOOL,
} from '../../contract/retrieve-tool.ts'
import type { TokenCounters } from '../../tokens/counters.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import type { RouteName, ScannedRequest } from '../parse/scan-request.ts'

/** The definition of our tool as JSON, always the same bytes; `undefined` for other routes. */
const DEFINITIONS: Readonly<Partial<Record<RouteName, string>>> = {
  anthropic_messages: JSON.stringify({
    name: RETRIEVE_TOOL,
    description: RETRIEVE_DESCRIPTION,
    input_schema: RETRIEVE_SCHEMA,
  }),
  openai_chat: JSON.stringify({
    type: 'function',
    function: {
      name: RETRIEVE_TOOL,
      description: RETRIEVE_DESCRIPTION,
      parameters: RETRIEVE_SCHEMA,
    },
  }),
  openai_responses: JSON.stringify({
    type: 'function',
    name: RETRIEVE_TOOL,
    description: RETRIEVE_DESCRIPTION,
    parameters: RETRIEVE_SCHEMA,
    strict: false,
  }),
}

/** Returns the definition for requests of a route; `undefined` if it has none. */
export function retrieveDefinition(route: RouteName): string | undefined {
  return DEFINITIONS[route]
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
