import { createHmac, hash } from 'node:crypto'
import { type anonymousName, createAnonymousNames } from './anonymous-name.ts'

/** Bytes of the secret that an installation's hashes are keyed with. */
export const TELEMETRY_KEY_BYTES = 32

/**
 * Represents the session if a request names none: such results belong to no session, and are
 * counted as of none.
 */
export const NO_SESSION = '0000000000000000'

/**
 * Replaces ids in telemetry by hexadecimal digits, different for each tenant and each kind of id.
 */
export interface Pseudonyms {
  /** See `anonymousName`. */
  readonly tool: typeof anonymousName
  /** 16 digits: sessions of one installation stay apart up to billions of them. */
  session(id: string): string
  /** 8 digits: distinguished within a session. */
  toolCall(id: string): string
  /** 8 digits. */
  filePath(path: string): string
  /**
   * 32 digits. @param sha256 of the content's UTF-8 bytes, hexadecimal, so that no content is
   * hashed twice
   */
  content(sha256: string): string
}

/** Sessions whose hash a thread has at hand. */
const REMEMBERED = 256

/**
 * The hashes of one tenant: SHA-256 of a secret of 64 bytes, which is one block, and the id, cut to
 * half or less, so that no digest can be continued. Without the key, a reader can neither check a
 * guess of an id nor compare two tenants or installations. Cutting leaves collisions, which only
 * make two things look like one.
 * @param key secret of the installation, `TELEMETRY_KEY_BYTES` long
 */
export function createPseudonyms(key: Uint8Array, tenant: string): Pseudonyms {
  const secret = createHmac('sha256', key).update(`tenant ${tenant}`).digest('hex')
  const sessions = new Map<string, string>()
  // The hash is one call over a text, which takes a third of HMAC's time.
  const digits = (kind: string, text: string, count: number) =>
    hash('sha256', `${secret}${kind} ${text}`, 'hex').slice(0, count)
  return {
    tool: createAnonymousNames(),
    session(id) {
      const known = sessions.get(id)
      if (known !== undefined) return known
      if (sessions.size === REMEMBERED) sessions.clear()
      const pseudonym = digits('session', id, 16)
      sessions.set(id, pseudonym)
      return pseudonym
    },
    toolCall: id => digits('call', id, 8),
    filePath: path => digits('file', path, 8),
    content: sha256 => digits('content', sha256, 32),
  }
}

/** The name of a tenant's folder: 16 hexadecimal digits. */
export function tenantFolder(key: Uint8Array, tenant: string): string {
  return createHmac('sha256', key).update(`folder ${tenant}`).digest('hex').slice(0, 16)
}
