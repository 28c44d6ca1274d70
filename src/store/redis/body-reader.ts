import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../core/base/errors.ts'
import { cutLines, resolveLines } from '../../core/parts/lines.ts'
import { mayBeNumbered } from '../../core/parts/numbered-lines.ts'
import type { Part, PartSelector } from '../../core/parts/part.ts'
import { resolveBytes } from '../../core/parts/range.ts'
import { selectPart } from '../../core/parts/select-part.ts'
import { type PackedBody, packChunks } from '../parts/packed-body.ts'
import { isCutElsewhere, ownPart, type WholeForPart } from '../parts/select-elsewhere.ts'
import type { Failure, Reference, Result, StoredBody, StoredPart } from '../store.ts'
import { checkHash, type Payload, UnreadableError } from '../values/codec.ts'
import { fail, partFailure } from '../values/failure.ts'
import {
  type BodiesOptions,
  CHUNKS_AT_ONCE,
  checkReference,
  chunkKey,
  idOf,
  missing,
} from './body-calls.ts'
import { CHUNK_BYTES, openChunk, openLineTable, openSmall, unsealChunk } from './chunks.ts'
import { type BodyValue, readBody } from './layout.ts'
import { ProvenBodies, type ProvenBody } from './proven-chunks.ts'

/** Reads bodies and parts of them. Nothing here rejects for an expected failure. */
export class BodyReader {
  readonly #options: BodiesOptions
  readonly #missingKeys = new Set<string>()
  readonly #proven = new ProvenBodies()

  constructor(options: BodiesOptions) {
    this.#options = options
  }

  async get(reference: Reference): Promise<Result<StoredBody>> {
    return this.#read(reference, async (body, root) => ({
      ...aboutOf(body),
      body: await this.#whole(body, root),
    }))
  }

  /** A part; all chunks of the body instead if it is large and must be searched. */
  part(reference: Reference, selector: PartSelector): Promise<Result<StoredPart | WholeForPart>> {
    return this.#read(reference, async (body, root) => ({
      ...aboutOf(body),
      ...(isCutElsewhere(selector, body.bytes)
        ? { whole: await this.#packed(body, root) }
        : { part: ownPart(await this.#part(body, root, selector)) }),
    }))
  }

  /** Whether a body can be read; a damaged one is removed. */
  async verify(root: string, ref: string): Promise<Result<{ readonly isDamaged: boolean }>> {
    const { server, time } = this.#options
    const called = await server.call('get', root, [time(), ref, ''])
    if (!called.ok) return called
    const [outcome, , value] = called.reply as [Buffer, Buffer, Buffer]
    if (String(outcome) !== 'found') return { ok: true, isDamaged: false }
    try {
      await this.#whole(readBody(value), root)
      return { ok: true, isDamaged: false }
    } catch (error) {
      if (error instanceof CallError) return error.failure
      if (!(error instanceof UnreadableError)) throw error
      await this.#noteUnreadable(root, ref, value, error)
      return { ok: true, isDamaged: error.missingKey === null }
    }
  }

  async #read<T extends object>(
    reference: Reference,
    use: (body: BodyValue, root: string) => Promise<T>,
  ): Promise<Result<T>> {
    const { server, time, rootOf, count, now } = this.#options
    const checked = checkReference(reference)
    if (!checked.ok) return checked
    const root = rootOf(reference.tenant)
    const called = await server.call('get', root, [time(), checked.ref, checked.session])
    if (!called.ok) return called
    const [outcome, id, value] = called.reply as [Buffer, Buffer, Buffer]
    if (String(outcome) !== 'found') {
      count('misses')
      // Another process may still have to write it again.
      if (String(outcome) === 'not_found' && server.mayLack) return NOT_SURE
      return missing(String(outcome), reference.ref, id)
    }
    if (server.mayBePurged) return NOT_SURE
    try {
      const body = readBody(value)
      // A reference is the first digits of a hash: who can write to Redis could name another body.
      const isMeant = Buffer.from(body.hash).toString('hex').startsWith(checked.ref)
      if (!isMeant) throw new UnreadableError(null)
      const result = await use(body, root)
      count('hits')
      if (body.pinnedUntil <= now()) void server.call('used', root, [time(), String(id)])
      return { ok: true, ...result }
    } catch (error) {
      if (error instanceof AppError) return partFailure(error)
      if (error instanceof CallError) return error.failure
      if (!(error instanceof UnreadableError)) throw error
      await this.#noteUnreadable(root, String(id), value, error)
      return fail(
        'gone',
        error.missingKey === null
          ? `the original ${reference.ref} was damaged and is not given back`
          : `the key of the original ${reference.ref} is not configured`,
      )
    }
  }

  async #whole(body: BodyValue, root: string): Promise<Uint8Array<ArrayBuffer>> {
    if (body.chunks === 0) return this.#small(body, root)
    const whole = new Uint8Array(body.bytes)
    await this.#prove(body, root, (content, at) => whole.set(content, at))
    return whole
  }

  #small(body: BodyValue, root: string): Uint8Array<ArrayBuffer> {
    const content = openSmall(this.#options.codec, body, root)
    checkHash(content, body.hash)
    return content
  }

  /**
   * Reads all chunks of a body. @param use gets each of them with the place of its first byte
   * @throws UnreadableError if their content has not the body's hash; CallError
   */
  async #prove(
    body: BodyValue,
    root: string,
    use: (content: Uint8Array, at: number) => void = () => {},
  ): Promise<ProvenBody> {
    const proof = this.#proven.begin(nameOf(body, root), body.chunks)
    for await (const { number, sealed } of this.#sealed(body, root, 0, body.chunks - 1)) {
      const content = openChunk(this.#options.codec, body, root, number, sealed)
      proof.add(number, content)
      use(content, number * CHUNK_BYTES)
    }
    return proof.end(body.hash)
  }

  /**
   * All of a body, not decompressed; who does that checks its hash. @throws UnreadableError,
   * CallError
   */
  async #packed(body: BodyValue, root: string): Promise<PackedBody> {
    const { codec } = this.#options
    const payloads: Payload[] = []
    if (body.chunks === 0) {
      payloads.push({ bytes: openSmall(codec, body, root), isCompressed: false })
    }
    for await (const { number, sealed } of this.#sealed(body, root, 0, body.chunks - 1)) {
      payloads.push(unsealChunk(codec, body, root, number, sealed))
    }
    const packed = packChunks(payloads)
    return { packed, bytes: body.bytes, chunkBytes: CHUNK_BYTES, hash: body.hash }
  }

  async #part(body: BodyValue, root: string, selector: PartSelector): Promise<Part> {
    if (body.chunks === 0) return selectPart(this.#small(body, root), selector)
    if (selector.kind === 'bytes') {
      const range = resolveBytes(selector.range, body.bytes)
      const from = Math.floor(range.first / CHUNK_BYTES)
      const bytes = await this.#chunks(body, root, from, Math.floor(range.last / CHUNK_BYTES))
      const start = range.first - from * CHUNK_BYTES
      const content = bytes.subarray(start, start + range.last - range.first + 1)
      return { kind: 'bytes', content, ...range }
    }
    const isCounted =
      selector.kind === 'lines' && !mayBeNumbered(await this.#chunks(body, root, 0, 0))
    if (isCounted) {
      const table = openLineTable(this.#options.codec, body, root)
      const { lines } = await this.#provenBody(body, root)
      if (!lines.every((line, chunk) => table.firstOf(chunk) === line))
        throw new UnreadableError(null)
      const range = resolveLines(selector.range, table.total)
      const from = table.at(range.first - 1)
      const bytes = await this.#chunks(body, root, from.chunk, table.at(range.last).chunk)
      return {
        kind: 'lines',
        content: cutLines(bytes, from.line, range.first, range.last),
        ...range,
      }
    }
    return selectPart(await this.#whole(body, root), selector)
  }

  async #provenBody(body: BodyValue, root: string): Promise<ProvenBody> {
    return this.#proven.get(nameOf(body, root)) ?? this.#prove(body, root)
  }

  /** Chunks `first` to `last`, opened and concatenated. @throws UnreadableError, CallError */
  async #chunks(body: BodyValue, root: string, first: number, last: number) {
    const proven = await this.#provenBody(body, root)
    const start = first * CHUNK_BYTES
    const out = new Uint8Array(Math.min(body.bytes, (last + 1) * CHUNK_BYTES) - start)
    for await (const { number, sealed } of this.#sealed(body, root, first, last)) {
      const chunk = openChunk(this.#options.codec, body, root, number, sealed)
      proven.check(number, chunk)
      out.set(chunk, number * CHUNK_BYTES - start)
    }
    return out
  }

  /** Chunks as Redis has them. Other work continues between some of them. */
  async *#sealed(body: BodyValue, root: string, first: number, last: number) {
    const { server } = this.#options
    const id = idOf(body.hash)
    for (let from = first; from <= last; from += CHUNKS_AT_ONCE) {
      const to = Math.min(last, from + CHUNKS_AT_ONCE - 1)
      const keys = Array.from({ length: to - from + 1 }, (_, index) =>
        chunkKey(root, id, body.incarnation, from + index),
      )
      const called = await server.command(root, ['MGET', ...keys])
      if (!called.ok) throw new CallError(called)
      for (const [index, sealed] of (called.reply as (Buffer | null)[]).entries()) {
        if (sealed === null) throw new UnreadableError(null)
        yield { number: from + index, sealed }
      }
      await nextTurn()
    }
  }

  async #noteUnreadable(root: string, id: string, value: Buffer, { missingKey }: UnreadableError) {
    const { server, time, tombstoneMs, count, onEvent } = this.#options
    if (missingKey !== null) {
      if (!this.#missingKeys.has(missingKey)) onEvent({ kind: 'missing_key', key_id: missingKey })
      this.#missingKeys.add(missingKey)
      return
    }
    const incarnation = value.toString('latin1', 40, 48)
    const called = await server.call('discard', root, [time(), id, incarnation, `${tombstoneMs}`])
    if (!called.ok || Number(called.reply) === 0) return
    count('damaged')
    onEvent({ kind: 'damaged_body', tenant: root, hash: value.toString('hex', 48, 80) })
  }
}

/** One body of one put: a body that was removed and put again has other chunks. */
function nameOf({ hash, incarnation }: BodyValue, root: string): string {
  return `${root} ${Buffer.from(hash).toString('hex')} ${incarnation}`
}

const NOT_SURE = fail('unavailable', 'Redis may have lost writes, which are being made again')

/** A call within a read that failed. */
class CallError extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.detail)
    this.name = 'CallError'
    this.failure = failure
  }
}

function aboutOf({ hash, bytes, expiresAt, mediaType, createdAt }: BodyValue) {
  return {
    hash: Buffer.from(hash).toString('hex'),
    bytes,
    expires_at: expiresAt,
    media_type: mediaType,
    created_at: createdAt,
  }
}
