import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { readEnvelope, writeEnvelope } from '../../../../src/core/contract/envelope.ts'
import { bytesOf } from '../../../support/runner.ts'
import { leastHits, runs } from '../../../support/runs.ts'

const LIMITS = { maxDepth: 16, maxValues: 1_000 }
const packr = new Packr({ useRecords: false, variableMapSize: true })
/** As JSON has it: no negative zero, which neither encoding keeps. */
const value = fc.jsonValue({ maxDepth: 5 }).map(throughJson)
/** Any UTF-16 at all, lone surrogates too. */
const text = fc.array(fc.nat(0xffff)).map(units => String.fromCharCode(...units))
const answer = fc.dictionary(fc.string(), fc.oneof(value, text)).map(throughJson)

function throughJson(any: unknown): unknown {
  return JSON.parse(JSON.stringify(any))
}

/** Whether an object in `any` has a member `__proto__`, which the MessagePack library renames. */
function hasProto(any: unknown): boolean {
  if (typeof any !== 'object' || any === null) return false
  return Object.hasOwn(any, '__proto__') || Object.values(any).some(hasProto)
}

/** What becomes of the bytes: a value, or `undefined` if they are refused as they should be. */
function attempt(bytes: Uint8Array, media: 'json' | 'msgpack'): { value: unknown } | undefined {
  try {
    return { value: readEnvelope(bytes, media, LIMITS) }
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return undefined
    throw error
  }
}

/** Some bytes of `bytes` replaced, and the end cut off. */
const damage = fc.record({
  at: fc.nat(),
  bytes: fc.uint8Array({ maxLength: 4 }),
  keep: fc.double({ min: 0, max: 1, noNaN: true }),
})

function damaged(
  bytes: Uint8Array,
  { at, bytes: patch, keep }: { at: number; bytes: Uint8Array; keep: number },
) {
  const copy = bytesOf(bytes)
  patch.forEach((byte, index) => {
    if (copy.length > 0) copy[(at + index) % copy.length] = byte
  })
  return copy.subarray(0, Math.ceil(copy.length * keep))
}

describe('envelopes', () => {
  it('of JSON are what JSON.parse makes of them', () => {
    fc.assert(
      fc.property(value, any => {
        const text = JSON.stringify(any)
        const read = attempt(bytesOf(text), 'json')
        return read !== undefined && JSON.stringify(read.value) === text
      }),
    )
  })

  it('of MessagePack come back the same', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), any => {
        fc.pre(!hasProto(any))
        expect(attempt(packr.pack(any), 'msgpack')?.value).toEqual(any)
      }),
    )
  })

  it.each(['json', 'msgpack'] as const)(
    'that are damaged (%s) are read or refused, no more',
    media => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), value), damage, (any, harm) => {
          const bytes = media === 'json' ? bytesOf(JSON.stringify(any)) : packr.pack(any)
          attempt(damaged(bytes, harm), media)
        }),
        { numRuns: runs(2_000) },
      )
    },
  )

  it.each(['json', 'msgpack'] as const)(
    'of random bytes (%s) are read or refused, no more',
    media => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
          attempt(bytes, media)
        }),
        { numRuns: runs(3_000) },
      )
    },
  )

  it('are written so that they are read again', () => {
    const written = { json: 0, msgpack: 0 }
    fc.assert(
      fc.property(answer, fc.constantFrom('json', 'msgpack'), (any, accept) => {
        const { media, bytes } = writeEnvelope(any, accept)
        fc.pre(media === 'json' || !hasProto(any))
        written[media]++
        expect(attempt(bytesOf(bytes), media)?.value).toEqual(any)
      }),
      { numRuns: runs(500) },
    )
    // The rest was accepted as MessagePack and written as JSON, for a lone surrogate.
    expect(written.msgpack).toBeGreaterThanOrEqual(leastHits(runs(500) / 10))
  })
})
