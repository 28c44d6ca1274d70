import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import type { Env } from '../config/env.ts'
import { userDataFolder } from '../config/user-folders.ts'

/** Every service answers `/livez` with it, so that clients know other programs from it. */
export const SERVICE_HEADER = 'x-haversack-service'
/** A client's random text, and the answer of who has the user's secret. */
export const CHALLENGE_HEADER = 'x-haversack-challenge'
export const PROOF_HEADER = 'x-haversack-proof'

/** What a client may ask for: 32 random bytes in hex digits. */
export const CHALLENGE = /^[0-9a-f]{64}$/
export const SECRET_BYTES = 32

/**
 * The file with the secret of a user. Services and hooks of the user read it; other users, whose
 * programs may listen on a port that is free, cannot.
 */
export function serviceSecretFile(env: Env): string {
  return join(userDataFolder(env), 'service.key')
}

/**
 * Proves to a client on this machine that the service is the user's own.
 * @param port at which it was asked: a program in between listens at another one
 */
export function proofOf(secret: Uint8Array, challenge: string, port: number): string {
  return createHmac('sha256', secret).update(`haversack ${challenge} ${port}`).digest('hex')
}
