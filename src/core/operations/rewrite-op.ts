import type { RouteName } from '../conversation/parse/scan-request.ts'

/** The shapes of bodies; an operation for each. */
export const ROUTE_NAMES: readonly RouteName[] = [
  'anthropic_messages',
  'openai_chat',
  'openai_responses',
  'gemini_generate',
  'bedrock_converse',
]

/** The name of the operation for request bodies of one shape. */
export function rewriteOp(route: RouteName): string {
  return `rewrite_${route}`
}
