import { createHash, hash as digest, randomInt } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kept, PutItem, Result, TouchItem } from '../store.ts'
import { fail } from '../values/failure.ts'
import { MIN_DIGITS } from '../values/hash-range.ts'
import {
  type BodiesOptions,
  CHUNKS_AT_ONCE,
  checkReference,
  chunkKey,
  idOf,
  missing,
} from './body-calls.ts'
import {
  CHUNK_BYTES,
  chunkCount,
  type SealedBody,
  STAGED_MS,
  sealLarge,
  sealSmall,
} from './chunks.ts'
import { refusal } from './failures.ts'
import { BODY_HEAD_BYTES, bodyTail, shortName } from './layout.ts'
import { Turns } from './turns.ts'

/** What key, index entries and sums of a body take in Redis, measured. */
const ENTRY_BYTES = 500
/** Sealing so many takes some milliseconds, for which this thread does nothing else. */
const PUTS_AT_ONCE = 64

/** Keeps bodies and prolongs their lives. Nothing here rejects for an expected failure. */
export class BodyWriter {
  readonly #options: BodiesOptions
  readonly #turns = new Turns(PUTS_AT_ONCE)

  constructor(options: BodiesOptions) {
    this.#options = options
  }

  async put(item: PutItem): Promise<Result<Kept>> {
    const { maxBodyBytes } = this.#options
    if (item.body.byteLength > maxBodyBytes) {
      return fail('too_large', `an original may have ${maxBodyBytes} bytes`)
    }
    return this.#turns.run(() => this.#put(item))
  }

  async #put(item: PutItem): Promise<Result<Kept>> {
    const { rootOf, register } = this.#options
    const { tenant, mediaType } = item
    const isLarge = chunkCount(item.body.byteLength) > 0
    // Other work continues while a large body is sealed. Its content must not change meanwhile.
    const body = isLarge && item.transfer !== true ? new Uint8Array(item.body) : item.body
    const hash = isLarge ? await hashLarge(body) : hashOf(item)
    const root = rootOf(tenant)
    const unknown = await register(tenant)
    if (unknown !== undefined) return unknown
    // A large body that is there already need not be sent.
    const known = isLarge ? await this.#send(item, root, hash, null) : NEEDED
    if (known !== NEEDED) return known
    const { codec } = this.#options
    const owner = { root, hash, mediaType }
    const sealed = isLarge
      ? await sealLarge(codec, body, owner)
      : sealSmall(codec, body, owner, item.compressed)
    const incarnation = randomInt(INCARNATIONS).toString(16).padStart(INCARNATION_DIGITS, '0')
    const content = { sealed, incarnation }
    const unstaged = await this.#stage(root, idOf(hash), content)
    if (unstaged !== undefined) return unstaged
    const done = await this.#send(item, root, hash, content)
    return done === NEEDED ? fail('busy', 'the parts of the original have expired') : done
  }

  async touch(item: TouchItem): Promise<Result<Kept>> {
    const { server, rootOf, time, ttlMs } = this.#options
    const checked = checkReference(item)
    if (!checked.ok) return checked
    const root = rootOf(item.tenant)
    const ttl = item.ttlMs ?? ttlMs
    const { connection } = server
    const pin = `${this.#pinOf(item)}`
    const args = [time(), checked.ref, checked.session, `${ttl}`, pin]
    const called = await server.call('touch', root, args)
    if (!called.ok) return called
    const [outcome, expires_at, bytes, hash, guard] = called.reply as [
      Buffer,
      number,
      number,
      Buffer,
      Buffer,
    ]
    if (String(outcome) !== 'kept') return missing(String(outcome), item.ref, expires_at)
    this.#options.count('refreshed')
    server.remember(
      { name: 'touch', root, session: checked.session, guard: String(guard), args },
      connection,
    )
    const weak = await server.confirm(root, connection)
    return weak ?? { ok: true, hash: String(hash), bytes, expires_at, created: false }
  }

  /** Sends a body, or with `null` only asks whether it is there. */
  async #send(
    item: PutItem,
    root: string,
    hash: Buffer,
    content: Content | null,
  ): Promise<Result<Kept> | typeof NEEDED> {
    const { server, time, codec, tenantMaxBytes, tombstoneMs, ttlMs, count } = this.#options
    const { session, ref, mediaType } = item
    const tail = content === null ? '' : bodyTail(codec.keyId, mediaType, content.sealed.sealed)
    const chunks = content?.sealed.chunks ?? []
    const charge = chunks.reduce(
      (sum, each) => sum + each.byteLength,
      tail.length + BODY_HEAD_BYTES + ENTRY_BYTES,
    )
    const args = [
      time(),
      idOf(hash),
      hash,
      `${item.ttlMs ?? ttlMs}`,
      `${this.#pinOf(item)}`,
      session === undefined ? '1' : '0',
      session === undefined ? '' : shortName(session),
      ref !== undefined && ref.length > MIN_DIGITS.session ? '1' : '0',
      `${item.body.byteLength}`,
      `${charge}`,
      `${chunks.length}`,
      content?.incarnation ?? '0'.repeat(INCARNATION_DIGITS),
      tail,
      `${tenantMaxBytes}`,
      `${tombstoneMs}`,
    ]
    const { connection } = server
    let called = await server.call('put', root, args)
    if (!called.ok && called.reason === 'full' && (await this.#makeRoom(root))) {
      called = await server.call('put', root, args)
    }
    if (!called.ok) return called
    const [name, expires_at, bytes, evicted = 0, guard] = called.reply as [
      Buffer,
      number,
      number,
      number?,
      Buffer?,
    ]
    const outcome = String(name)
    if (outcome === 'need') return NEEDED
    if (evicted > 0) count('evicted', evicted)
    if (outcome !== 'created' && outcome !== 'kept') return refusal(outcome)
    const created = outcome === 'created'
    count(created ? 'created' : 'refreshed')
    const staged = content === null ? [] : stagedOf(root, idOf(hash), content)
    const whose = { root, session: args[SESSION_AT] as string, guard: String(guard) }
    server.remember({ name: 'put', ...whose, args, staged }, connection)
    const weak = await server.confirm(root, connection)
    return weak ?? { ok: true, hash: hash.toString('hex'), bytes, expires_at, created }
  }

  async #makeRoom(root: string): Promise<boolean> {
    const { server, time, tombstoneMs, count } = this.#options
    const called = await server.call('evict', root, [time(), `${tombstoneMs}`])
    if (!called.ok) return false
    count('evicted', Number(called.reply))
    return Number(called.reply) > 0
  }

  /** Keeps chunks for a minute; the put that follows keeps them for good. */
  async #stage(root: string, id: string, content: Content) {
    const { server } = this.#options
    const staged = stagedOf(root, id, content)
    for (let from = 0; from < staged.length; from += CHUNKS_AT_ONCE) {
      const some = staged
        .slice(from, from + CHUNKS_AT_ONCE)
        .map(([key, chunk]) => server.command(key, ['SET', key, chunk, 'PX', `${STAGED_MS}`]))
      const failed = (await Promise.all(some)).find(each => !each.ok)
      if (failed !== undefined && !failed.ok) return failed
    }
    return undefined
  }

  /** How long from now it is pinned, in milliseconds; clocks of replicas differ, spans do not. */
  #pinOf({ pinUntil }: Pick<PutItem, 'pinUntil'>): number {
    return pinUntil === undefined ? 0 : Math.max(0, Math.round(pinUntil - this.#options.now()))
  }
}

/** A body as it is sent. */
interface Content {
  readonly sealed: SealedBody
  readonly incarnation: string
}

/** Tells a body from earlier ones with its hash. The generator has a supply of small numbers. */
const INCARNATION_DIGITS = 8
const INCARNATIONS = 16 ** INCARNATION_DIGITS

function hashOf({ body, hash }: PutItem): Buffer {
  return hash === undefined ? digest('sha256', body, 'buffer') : Buffer.from(hash, 'hex')
}

/** Where the arguments of a put have the session. */
const SESSION_AT = 6

/** The chunks of a large body, with their keys. */
function stagedOf(root: string, id: string, { sealed, incarnation }: Content) {
  return sealed.chunks.map(
    (chunk, number) => [chunkKey(root, id, incarnation, number), chunk] as const,
  )
}

/** A body must be sent with its content. */
const NEEDED = Symbol('needed')

/** Hashes a large body in steps, between which other work continues. */
async function hashLarge(body: Uint8Array): Promise<Buffer> {
  const sum = createHash('sha256')
  for (let at = 0; at < body.byteLength; at += CHUNK_BYTES) {
    sum.update(body.subarray(at, at + CHUNK_BYTES))
    await nextTurn()
  }
  return sum.digest()
}
