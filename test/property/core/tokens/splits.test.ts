import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { ENCODINGS, type Encoding } from '../../../../src/core/tokens/profiles.ts'
import {
  pieceEndCl100k,
  pieceEndO200k,
  SENTINEL,
} from '../../../../src/core/tokens/split-pieces.ts'
import { buildClassTable } from '../../../../src/core/tokens/unicode-classes.ts'
import { runs, SEED } from '../../../support/runs.ts'
import { createXorshift } from '../../../support/xorshift.ts'
import { boundaryText } from './boundary-text.ts'

const require = createRequire(import.meta.url)
const { Tiktoken } = require('tiktoken/lite') as typeof import('tiktoken/lite')
const table = buildClassTable()
const SPLIT = { o200k_base: pieceEndO200k, cl100k_base: pieceEndCl100k }

/** Texts that share one encoder. */
const BATCH = 1500
const BATCHES = runs(120) / 10

function piecesOf(text: string, encoding: Encoding): string[] {
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from([SENTINEL, 0, 0, 0])])
  const pieces: string[] = []
  for (let at = 0; bytes[at] !== SENTINEL; ) {
    const end = SPLIT[encoding](bytes, at, table)
    pieces.push(bytes.toString('base64', at, end))
    at = end
  }
  return pieces
}

// Most wrong splits do not change a count: nothing merges across them. So tiktoken gets the real
// pattern, but our pieces as its vocabulary; if it splits as we do, each piece is one token, and
// the ids say which.
it.each(ENCODINGS)('tiktoken splits where we do: %s', encoding => {
  const { pat_str } = require(`tiktoken/encoders/${encoding}.json`) as { pat_str: string }
  const random = createXorshift(SEED)
  const singles = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte]).toString('base64'))
  for (let batch = 0; batch < BATCHES; batch++) {
    const texts = Array.from({ length: BATCH }, () => boundaryText(random))
    const split = texts.map(text => piecesOf(text, encoding))
    const vocabulary = [...new Set([...singles, ...split.flat()])]
    const idOf = new Map(vocabulary.map((piece, id) => [piece, id]))
    const encoder = new Tiktoken(`! 0 ${vocabulary.join(' ')}`, {}, pat_str)
    texts.forEach((text, i) => {
      const expected = split[i]!.map(piece => idOf.get(piece))
      const actual = [...encoder.encode_ordinary(text)]
      if (actual.join() !== expected.join()) expect.fail(JSON.stringify(text))
    })
    encoder.free()
  }
})
