import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Tiktoken } from 'tiktoken'
import type { Encoding } from '../core/tokens/profiles.ts'
import type { ReferenceEncoding } from '../core/tokens/reference-counter.ts'

/** What tiktoken has of an encoding. */
interface EncodingData {
  readonly bpe_ranks: string
  readonly pat_str: string
}

/** The same ranks under two names. */
const RANKS = { gpt2: 'r50k_base' } as const
const require = createRequire(import.meta.url)
const encoders = new Map<string, Tiktoken>()

/** Ranks and pattern of an encoding: from the published package, or in a clone from tiktoken. */
export function encodingData(encoding: Encoding | ReferenceEncoding): EncodingData {
  const name = encoding === 'gpt2' ? RANKS.gpt2 : encoding
  return require(ownFile(`${name}.json`) ?? `tiktoken/encoders/${name}.json`)
}

/**
 * Ids of `text` as tiktoken's `encode_ordinary` gives them, by its WASM build. Blocks; quadratic on
 * long unbroken runs. An encoding's first call takes some 100 ms and keeps tens of MB.
 */
export function tiktokenIds(text: string, encoding: Encoding | ReferenceEncoding): Uint32Array {
  let encoder = encoders.get(encoding)
  if (encoder === undefined) {
    const path = ownFile('tiktoken.cjs') ?? 'tiktoken/lite'
    const { Tiktoken: create } = require(path) as typeof import('tiktoken/lite')
    const { bpe_ranks, pat_str } = encodingData(encoding)
    encoder = new create(bpe_ranks, {}, pat_str)
    encoders.set(encoding, encoder)
  }
  return encoder.encode_ordinary(text)
}

/** A file that the build copied; undefined in a clone. */
function ownFile(name: string): string | undefined {
  const path = fileURLToPath(new URL(`../../vocabularies/${name}`, import.meta.url))
  return existsSync(path) ? path : undefined
}
