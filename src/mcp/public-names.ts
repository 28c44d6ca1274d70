import { createHash } from 'node:crypto'

/**
 * Longest name that is offered to clients. Cursor counts 60 with its own prefix, others 64; longer
 * names vanish there or break a session.
 */
const MAX_BYTES = 44
/** Hexadecimal digits of the hash that makes a cut name unlike any other. */
const HASH_DIGITS = 6

/**
 * The name by which a tool or prompt of a server is offered: `{server}__{name}`, or the bare name
 * if there is one server. A name that clients would not take is spelt in `[A-Za-z0-9_-]`, cut, and
 * ends with six digits of its SHA-256.
 * @param server `null` if there is one server
 */
export function publicName(server: string | null, name: string): string {
  const whole = server === null ? name : `${server}__${name}`
  const spelt = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (spelt === whole && whole.length <= MAX_BYTES && whole !== '') return whole
  const digits = createHash('sha256').update(whole).digest('hex').slice(0, HASH_DIGITS)
  return `${spelt.slice(0, MAX_BYTES - HASH_DIGITS - 1)}_${digits}`
}
