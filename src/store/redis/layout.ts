import { hash as digest } from 'node:crypto'
import { UnreadableError } from '../values/codec.ts'

/**
 * Names of keys and the layout of values, of which `library/base.lua` writes the heads. Numbers are
 * little-endian.
 */
const NAME_BYTES = 16

/** The start of all keys, if none is configured. */
export const DEFAULT_PREFIX = 'hvs1'

/** The start of all keys of a tenant. The part in braces keeps them on one node of a cluster. */
export function rootOf(prefix: string, tenant: string): string {
  return `${prefix}:{${shortName(tenant)}}:`
}

/** Names that were made lately, because a turn needs those of its tenant and session often. */
const names = new Map<string, string>()
const MAX_NAMES = 4096
const MAX_NAMED_CHARS = 256

/** A name of 22 characters for a text of any kind: 16 bytes of its SHA-256. */
export function shortName(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = digest('sha256', text, 'buffer').subarray(0, NAME_BYTES).toString('base64url')
  if (names.size >= MAX_NAMES) names.clear()
  if (text.length <= MAX_NAMED_CHARS) names.set(text, name)
  return name
}

/** Digits by which a tenant's bodies are found. */
export const ID_DIGITS = 12

/** A body as it is stored. */
export interface BodyValue {
  readonly createdAt: number
  readonly expiresAt: number
  readonly pinnedUntil: number
  readonly bytes: number
  /** 0: the content is in `sealed`; else `sealed` is the table of lines. */
  readonly chunks: number
  /** Tells the chunks and links of this body from those of an earlier one. */
  readonly incarnation: string
  readonly hash: Uint8Array
  readonly keyId: string | null
  readonly mediaType: string
  readonly sealed: Uint8Array
}

/** The version of values that is written. Earlier ones are read too, and later ones left alone. */
export const LAYOUT = 1
export const BODY_HEAD_BYTES = 80
const RECORD_HEAD_BYTES = 25

/** @throws UnreadableError */
export function readBody(value: Buffer): BodyValue {
  if (!Buffer.isBuffer(value) || value.byteLength < BODY_HEAD_BYTES + 3 || value[0] !== LAYOUT)
    throw damaged()
  const keyEnd = BODY_HEAD_BYTES + 1 + value[BODY_HEAD_BYTES]!
  if (keyEnd + 2 > value.byteLength) throw damaged()
  const mediaEnd = keyEnd + 2 + value.readUInt16LE(keyEnd)
  const keyId = value.toString('utf8', BODY_HEAD_BYTES + 1, keyEnd)
  return {
    createdAt: value.readDoubleLE(1),
    expiresAt: value.readDoubleLE(9),
    pinnedUntil: value.readDoubleLE(17),
    bytes: value.readUInt32LE(25),
    chunks: value.readUInt16LE(38),
    incarnation: value.toString('latin1', 40, 48),
    hash: value.subarray(48, BODY_HEAD_BYTES),
    keyId: keyId === '' ? null : keyId,
    mediaType: value.toString('utf8', keyEnd + 2, mediaEnd),
    sealed: value.subarray(mediaEnd),
  }
}

/** What follows a body's head. */
export function bodyTail(keyId: string | null, mediaType: string, sealed: Uint8Array): Buffer {
  const media = Buffer.from(mediaType)
  const size = Buffer.alloc(2)
  size.writeUInt16LE(media.byteLength)
  return Buffer.concat([keyField(keyId), size, media, sealed])
}

/** A record as it is stored. */
export interface RecordValue {
  readonly version: number
  readonly expiresAt: number | null
  readonly bytes: number
  readonly keyId: string | null
  readonly sealed: Uint8Array
}

/** @throws UnreadableError */
export function readRecordValue(value: Buffer): RecordValue {
  const keyAt = RECORD_HEAD_BYTES
  if (!Buffer.isBuffer(value) || value.byteLength < keyAt + 1 || value[0] !== LAYOUT)
    throw damaged()
  const keyEnd = keyAt + 1 + value[keyAt]!
  const keyId = value.toString('utf8', keyAt + 1, keyEnd)
  const expires = value.readDoubleLE(9)
  return {
    version: value.readDoubleLE(1),
    expiresAt: expires < 0 ? null : expires,
    bytes: value.readUInt32LE(21),
    keyId: keyId === '' ? null : keyId,
    sealed: value.subarray(keyEnd),
  }
}

/** The version of a record whose content may be damaged. */
export function versionOf(value: Buffer): number {
  return value.readDoubleLE(1)
}

/** What follows a record's head. */
export function recordTail(keyId: string | null, sealed: Uint8Array): Buffer {
  return Buffer.concat([keyField(keyId), sealed])
}

function keyField(keyId: string | null): Buffer {
  const id = Buffer.from(keyId ?? '')
  return Buffer.concat([Buffer.of(id.byteLength), id])
}

function damaged(): UnreadableError {
  return new UnreadableError(null)
}
