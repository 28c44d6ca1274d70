import type { RouteName } from '../dialects/lookup.ts'

/** The name of the operation for request bodies of one shape. */
export function rewriteOp(route: RouteName): string {
  return `rewrite_${route}`
}
