import { hash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../core/base/errors.ts'
import type { SharedPlaces, SharedRates } from '../core/base/shared-rates.ts'
import { type KeyRecord, SCOPES, type Scope } from './key-record.ts'
import { createRateLimit, createSharedPlaces, createSharedRate, type RateLimit } from './limits.ts'

/** The sender of a request. */
export interface Caller {
  readonly tenant: string
  /** Id of the key, as in the keys file; empty if there are no keys. */
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  readonly redeems: boolean
  /** Whether its client sends whole conversations. */
  readonly references: boolean
  /** The project whose configuration its requests get; `null`: they may name one. */
  readonly project: string | null
  /** The only teams that the key may use; `null`: all of the tenant. */
  readonly teams: ReadonlySet<string> | null
  /** The only member that it may write as; `null`: any. */
  readonly member: string | null
  /** Requests at the same time. */
  readonly maxConcurrent: number
  /** The same for all processes together; absent: there is one process. */
  readonly shared?: SharedPlaces
  /** Shared by all requests of the key; `null` if it has no limit. */
  readonly rate: RateLimit | null
}

/**
 * The scope that a key needs: one scope, one of several, or none if the key only has to be valid.
 */
export type NeededScope = Scope | 'any' | readonly Scope[]

/** Identifies the caller of a request, and decides whether the request may pass. */
export interface Access {
  /**
   * The caller that a key belongs to; without configured keys the tenant `local`, whatever it
   * presents.
   * @param presented the key; not asked for if there are no keys
   * @throws AppError `unauthorized`, and what `presented` throws
   */
  identify(presented: () => string | undefined): Caller
  /**
   * Lets one more request of the caller pass.
   * @throws AppError `rate_limited`, `forbidden` if the key lacks `scope`, or all of several
   */
  allow(caller: Caller, scope: NeededScope): void
  /** The caller of the key of this id; `null` if there is none in force. */
  resume(keyId: string): Caller | null
  /** SHA-256 of the key of this id; `null` if there is none in force. */
  digestOf(keyId: string): Buffer | null
  /** Keys in force, without rights to use them; `null` if none are configured. */
  records(): readonly KeyRecord[] | null
  /** Puts other keys in force; what a key has used of its rate stays used. */
  replace(keys: readonly KeyRecord[]): void
  /** Refuses the keys with these SHA-256, and no others any more, whatever is put in force. */
  refuse(revoked: ReadonlySet<string>): void
  /** Different tenants among the keys; at least 1. */
  readonly tenants: number
}

/** Not authenticated yet: may do nothing. */
export const ANONYMOUS: Caller = {
  tenant: '',
  keyId: '',
  scopes: new Set(),
  redeems: false,
  references: false,
  project: null,
  teams: null,
  member: null,
  maxConcurrent: Number.POSITIVE_INFINITY,
  rate: null,
}

/** The caller of every request if no keys are configured. */
export const LOCAL: Caller = {
  ...ANONYMOUS,
  tenant: 'local',
  scopes: new Set(SCOPES),
  redeems: true,
}

interface KnownKey {
  readonly record: KeyRecord
  readonly digest: Buffer
  readonly caller: Caller
}

/**
 * @param initial the configured keys; `null` if there is no keys file
 * @param now milliseconds of a clock for the rates
 * @param shared rates that hold for several processes, once there are any; absent: for this one
 */
export function createAccess(
  initial: readonly KeyRecord[] | null,
  now: () => number,
  shared?: () => SharedRates | undefined,
): Access {
  if (initial === null) {
    return {
      identify: () => LOCAL,
      allow: () => {},
      resume: () => null,
      digestOf: () => null,
      records: () => null,
      replace: () => {},
      refuse: () => {},
      tenants: 1,
    }
  }
  let given = initial
  let revoked: ReadonlySet<string> = new Set()
  let entries = index(initial, new Map())
  let byId = indexById()
  let tenants = countTenants(initial)

  /** Few digests have the same prefix. All of them are compared, each in constant time. */
  function find(key: string): KnownKey | undefined {
    const digest = hash('sha256', key, 'buffer')
    let found: KnownKey | undefined
    for (const entry of entries.get(digest.readUInt32BE(0)) ?? []) {
      if (timingSafeEqual(entry.digest, digest)) found = entry
    }
    return found
  }

  function indexById(): ReadonlyMap<string, KnownKey> {
    return new Map([...entries.values()].flat().map(entry => [entry.record.id, entry]))
  }

  function build(): void {
    const keys = given.filter(({ sha256 }) => !revoked.has(sha256))
    entries = index(keys, entries)
    byId = indexById()
    tenants = countTenants(keys)
  }

  function index(keys: readonly KeyRecord[], before: ReadonlyMap<number, KnownKey[]>) {
    const known = new Map([...before.values()].flat().map(entry => [entry.record.id, entry]))
    const byStart = new Map<number, KnownKey[]>()
    for (const record of keys) {
      const entry = toEntry(record, { now: now(), shared }, known.get(record.id))
      const start = entry.digest.readUInt32BE(0)
      byStart.set(start, [...(byStart.get(start) ?? []), entry])
    }
    return byStart
  }

  return {
    get tenants() {
      return tenants
    },
    identify(presented) {
      const key = presented()
      if (key === undefined) throw new AppError('unauthorized', 'a key is needed')
      const entry = find(key)
      if (entry === undefined) throw new AppError('unauthorized', 'the key is not valid')
      return entry.caller
    },
    allow({ rate, scopes }, scope) {
      const waitMs = rate?.take(now()) ?? 0
      if (waitMs > 0) throw tooFast(waitMs)
      if (scope === 'any') return
      const enough = typeof scope === 'string' ? [scope] : scope
      if (enough.some(each => scopes.has(each))) return
      throw new AppError('forbidden', `the key lacks the scope ${enough.join(' or ')}`)
    },
    resume: keyId => byId.get(keyId)?.caller ?? null,
    digestOf: keyId => byId.get(keyId)?.digest ?? null,
    records: () => [...byId.values()].map(({ record }) => record),
    replace(keys) {
      given = keys
      build()
    },
    refuse(digests) {
      revoked = digests
      build()
    },
  }
}

function toEntry(
  record: KeyRecord,
  {
    now,
    shared,
  }: { readonly now: number; readonly shared?: (() => SharedRates | undefined) | undefined },
  before: KnownKey | undefined,
): KnownKey {
  const { rate_per_s: rate, burst } = record
  const sameRate = before?.record.rate_per_s === rate && before?.record.burst === burst
  const newRate = () =>
    rate === undefined ? null : rateLimit(record, rate, burst ?? Math.ceil(rate))
  const rateLimit = ({ tenant, id }: KeyRecord, perSecond: number, most: number) =>
    shared === undefined
      ? createRateLimit(perSecond, most, now)
      : createSharedRate({ tenant, keyId: id, perSecond, burst: most }, shared)
  const { max_concurrent: most } = record
  const isSameMost = before?.record.max_concurrent === most
  const newPlaces = () =>
    shared === undefined || most === undefined
      ? undefined
      : createSharedPlaces({ tenant: record.tenant, keyId: record.id, most }, shared)
  const places = isSameMost && before !== undefined ? before.caller.shared : newPlaces()
  return {
    record,
    digest: Buffer.from(record.sha256, 'hex'),
    caller: {
      tenant: record.tenant,
      keyId: record.id,
      scopes: new Set(record.scopes),
      redeems: record.redeems,
      references: record.references ?? false,
      project: record.project ?? null,
      teams: record.teams === undefined ? null : new Set(record.teams),
      member: record.member ?? null,
      maxConcurrent: most ?? Number.POSITIVE_INFINITY,
      ...(places && { shared: places }),
      rate: before !== undefined && sameRate ? before.caller.rate : newRate(),
    },
  }
}

function countTenants(keys: readonly KeyRecord[]): number {
  return Math.max(1, new Set(keys.map(({ tenant }) => tenant)).size)
}

function tooFast(waitMs: number): AppError {
  return new AppError('rate_limited', 'the key has used up its rate', {
    retry_after_s: Math.ceil(waitMs / 1000),
  })
}
