import { describe, expect, it } from 'vitest'
import { createHeapRoom, mergeWithHeap } from '../../../../src/core/tokens/merge-heap.ts'
import { createPieceMerger } from '../../../../src/core/tokens/merge-pieces.ts'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import { tokenIds } from '../../../../src/core/tokens/token-ids.ts'
import { openVocabulary } from '../../../../src/core/tokens/vocabulary.ts'
import { tiktokenIds } from '../../../../src/runtime/tiktoken.ts'
import { generatedTexts, HOSTILE } from '../../../support/generated-text.ts'
import { FULL_RUNS, SEED } from '../../../support/runs.ts'
import { fewRuns, someOf } from '../../../support/short-runs.ts'
import { counters, vocabularies } from '../../../support/vocabularies.ts'
import { createXorshift } from '../../../support/xorshift.ts'
import { boundaryText } from './boundary-text.ts'

const STRINGS = fewRuns(150_000, 500)
/** For the hostile texts, of which one seed is as good as another. */
const HOSTILE_SEED = 20_261_121
/** Long pieces of each kind of hostile text. */
const LONG_PIECES = FULL_RUNS ? 4 : 1

describe.each(someOf(ENCODINGS, 1))('%s', encoding => {
  const counter = counters.get(encoding)

  it('counts generated strings as tiktoken does', () => {
    const random = createXorshift(SEED)
    for (let i = 0; i < STRINGS; i++) {
      const text = boundaryText(random)
      const tokens = counter.count(text)
      if (tokens !== tiktokenIds(text, encoding).length)
        expect.fail(`${tokens} of ${JSON.stringify(text)}`)
    }
  })

  it('counts generated tool results as tiktoken does', () => {
    for (const text of generatedTexts(SEED, fewRuns(150, 1)))
      expect(counter.count(text)).toBe(tiktokenIds(text, encoding).length)
  })

  it('counts hostile text as tiktoken does', () => {
    const random = createXorshift(HOSTILE_SEED)
    for (const [name, make] of Object.entries(HOSTILE)) {
      for (const chars of [70, 140, 290, 1500, 2600]) {
        const text = make(chars, random)
        expect({ name, chars, tokens: counter.count(text) }).toEqual({
          name,
          chars,
          tokens: tiktokenIds(text, encoding).length,
        })
      }
    }
  })

  it('gives the ids that tiktoken gives', () => {
    const vocabulary = openVocabulary(vocabularies[encoding])
    const random = createXorshift(SEED)
    const texts = [
      ...generatedTexts(SEED, fewRuns(150, 1)),
      ...Array.from({ length: fewRuns(20_000, 200) }, () => boundaryText(random)),
      ...Object.values(HOSTILE).flatMap(make => [70, 290, 2600].map(chars => make(chars, random))),
      ...['', 'a', '\ud800 lone', '\ufeffa', '<|endoftext|>', 'a'.repeat(5_000)],
    ]
    for (const text of texts) {
      expect(tokenIds(text, vocabulary)).toEqual([...tiktokenIds(text, encoding)])
    }
  })

  it('merges long pieces in windows to the same counts as all at once, and seldom tries again', () => {
    const vocabulary = openVocabulary(vocabularies[encoding])
    const merger = createPieceMerger(vocabulary)
    const random = createXorshift(HOSTILE_SEED)
    for (const [name, make] of Object.entries(HOSTILE)) {
      for (let i = 0; i < LONG_PIECES; i++) {
        const bytes = Buffer.from(make(20_000 + random(5000), random))
        const room = createHeapRoom(bytes.length)
        bytes.forEach((byte, at) => {
          room.ids[at] = vocabulary.byteIds[byte]!
        })
        expect({ name, tokens: merger.count(bytes, 0, bytes.length) }).toEqual({
          name,
          tokens: mergeWithHeap(vocabulary, room, bytes.length),
        })
      }
    }
    // The larger window does for everything here: no piece was merged all at once.
    expect(merger.retries[1]).toBe(0)
  })
})
