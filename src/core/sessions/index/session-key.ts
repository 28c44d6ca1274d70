import { hash } from 'node:crypto'

declare const brand: unique symbol

/** 128 bits of SHA-256 as four signed 32-bit numbers; may be sent to other threads. */
export type SessionKey = readonly [number, number, number, number] & { readonly [brand]: true }

/**
 * Names a session of a tenant in the index. Different pairs have different keys, whatever the texts
 * hold: the first length marks the end of the first text, and UTF-16 keeps lone surrogates
 * distinct, which UTF-8 would make equal.
 */
export function sessionKey(tenant: string, session: string): SessionKey {
  // As text, because a digest in a Buffer of its own takes longer than all of this.
  const digest = hash('sha256', Buffer.from(`${tenant.length}:${tenant}${session}`, 'utf16le'))
  const words = [word(digest, 0), word(digest, 1), word(digest, 2), word(digest, 3)]
  return words as unknown as SessionKey
}

function word(digest: string, index: number): number {
  return Number.parseInt(digest.slice(8 * index, 8 * index + 8), 16) | 0
}
