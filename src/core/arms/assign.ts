import { createHmac } from 'node:crypto'

/** Bytes of the secret that a tenant's draws are keyed with. */
export const ARM_SECRET_BYTES = 32

/** What a request's arms are drawn with. */
export interface ArmTerms {
  /** The tenant's. */
  readonly secret: Uint8Array
  /** The salt of units that begin now; see `quarterOf`. */
  readonly quarter: number
  /** Share of units that are forwarded untouched, 0 to 1. */
  readonly holdout: number
  /** Share of results that stay whole, 0 to 1. */
  readonly explore: number
  /** The session as the client names it in a header; absent: the body may name one. */
  readonly session?: string
}

/** The arm of a unit, as it was drawn with its first request. */
export interface UnitArm {
  readonly isHeldOut: boolean
  /** The salt that its results are drawn with, whenever they come. */
  readonly quarter: number
  /** The share at the time; 0 or 1 compares nothing. */
  readonly share: number
}

const MONTHS = 12
const MONTHS_A_QUARTER = 3

/**
 * Quarters since the year 0. A client that learned which of its sessions are held out knows nothing
 * of those of the next quarter.
 */
export function quarterOf(ms: number): number {
  const date = new Date(ms)
  return Math.floor((date.getUTCFullYear() * MONTHS + date.getUTCMonth()) / MONTHS_A_QUARTER)
}

/** Names a unit without its own id: 64 hex digits, different for each tenant. */
export function unitKey({ secret }: Pick<ArmTerms, 'secret'>, unit: string): string {
  return createHmac('sha256', secret).update(`unit ${unit}`).digest('hex')
}

/** Draws the arm of a unit that begins now. @param key from `unitKey` */
export function drawUnit(terms: Omit<ArmTerms, 'session'>, key: string): UnitArm {
  const { secret, quarter, holdout } = terms
  return { isHeldOut: draw(secret, quarter, `hold ${key}`) < holdout, quarter, share: holdout }
}

/**
 * Whether a result that would be elided stays whole.
 * @param quarter of its unit
 * @param key names the result by everything before it
 */
export function staysWhole(
  { secret, explore }: Pick<ArmTerms, 'secret' | 'explore'>,
  quarter: number,
  key: string,
): boolean {
  return draw(secret, quarter, `whole ${key}`) < explore
}

/** Bits of a digest that a double represents exactly. */
const DRAWN_BITS = 48

/** From 0 on, below 1. Without the secret, no client can tell what its id leads to. */
function draw(secret: Uint8Array, quarter: number, text: string): number {
  const digest = createHmac('sha256', secret).update(`${quarter} ${text}`).digest()
  return digest.readUIntBE(0, DRAWN_BITS / 8) / 2 ** DRAWN_BITS
}
