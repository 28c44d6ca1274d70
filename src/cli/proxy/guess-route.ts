import type { Fields } from '../../core/dialects/bodies/route.ts'
import { bodyRules, ROUTE_NAMES, type RouteName } from '../../core/dialects/lookup.ts'

export interface Guess {
  readonly route: RouteName
  /** What distinguishes it from the others. */
  readonly sign: string
}

/**
 * The endpoint that a request body is for; `null` if there is no sign, or signs contradict each
 * other.
 */
export function guessRoute(body: unknown): Guess | null {
  if (!isFields(body)) return null
  const messages = fieldsIn(body['messages'])
  const blocks = messages.flatMap(({ content }) => fieldsIn(content))
  const request = { body, messages, blocks, tools: fieldsIn(body['tools']) }
  const found = ROUTE_NAMES.flatMap(route => {
    const sign = bodyRules(route).signs.find(([, holds]) => holds(request))?.[0]
    return sign === undefined ? [] : [{ route, sign }]
  })
  return found.length === 1 ? found[0]! : null
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : []
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
