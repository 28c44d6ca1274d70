/**
 * Token ids from tiktoken's WASM build: the oracle of our counts and ids.
 */
import { createRequire } from 'node:module'
import type { Tiktoken } from 'tiktoken'
import type { Encoding } from '../../src/core/tokens/profiles.ts'

const require = createRequire(import.meta.url)
const encoders = new Map<Encoding, Tiktoken>()

/**
 * Ids of `text` as tiktoken's `encode_ordinary` gives them. Blocks; quadratic on long unbroken
 * runs. An encoding's first call takes some 100 ms and keeps tens of MB.
 */
export function tiktokenIds(text: string, encoding: Encoding): Uint32Array {
  return encoderOf(encoding).encode_ordinary(text)
}

/** Loaded on first use: tiktoken compiles its WASM and parses megabytes when it is imported. */
function encoderOf(encoding: Encoding): Tiktoken {
  let encoder = encoders.get(encoding)
  if (encoder === undefined) {
    const { Tiktoken: create } = require('tiktoken/lite') as typeof import('tiktoken/lite')
    const data = require(`tiktoken/encoders/${encoding}.json`) as {
      bpe_ranks: string
      special_tokens: Record<string, number>
      pat_str: string
    }
    encoder = new create(data.bpe_ranks, data.special_tokens, data.pat_str)
    encoders.set(encoding, encoder)
  }
  return encoder
}
