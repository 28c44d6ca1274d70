import { createHmac } from 'node:crypto'

/** Bytes of the secret that an installation's hashes are keyed with. */
export const TELEMETRY_KEY_BYTES = 32

/** What stands for ids in telemetry: hexadecimal digits of HMAC-SHA256, different for each tenant and each kind of id. */
export interface Pseudonyms {
  /** 16 digits: sessions of one installation stay apart up to billions of them. */
  session(id: string): string
  /** 8 digits: told apart within a session. */
  toolCall(id: string): string
  /** 8 digits. */
  filePath(path: string): string
  /** 32 digits. @param sha256 of the content's UTF-8 bytes, hexadecimal, so that no content is hashed twice */
  content(sha256: string): string
}

/**
 * The hashes of one tenant. Who has not the key can neither guess an id and see whether it was right, nor compare two tenants or
 * installations. Cutting to so few digits leaves collisions, which only make two things look like one.
 * @param key secret of the installation, `TELEMETRY_KEY_BYTES` long
 */
export function createPseudonyms(key: Uint8Array, tenant: string): Pseudonyms {
  const own = createHmac('sha256', key).update(`tenant ${tenant}`).digest()
  const digits = (kind: string, text: string, count: number) =>
    createHmac('sha256', own).update(`${kind} ${text}`).digest('hex').slice(0, count)
  return {
    session: id => digits('session', id, 16),
    toolCall: id => digits('call', id, 8),
    filePath: path => digits('file', path, 8),
    content: sha256 => digits('content', sha256, 32),
  }
}

/** The name of a tenant's folder: 16 hexadecimal digits. */
export function tenantFolder(key: Uint8Array, tenant: string): string {
  return createHmac('sha256', key).update(`folder ${tenant}`).digest('hex').slice(0, 16)
}
