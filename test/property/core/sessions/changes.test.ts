import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../../../../src/core/sessions/index/layout.ts'
import { ANSWERS, KINDS } from '../../../../src/core/sessions/index/session-index.ts'
import { ByteReader, ByteWriter } from '../../../../src/core/sessions/journal/byte-fields.ts'
import {
  type Change,
  joinChanges,
  readChanges,
  writeChanges,
} from '../../../../src/core/sessions/journal/changes.ts'
import { expandNote, shortenNote } from '../../../../src/core/sessions/journal/note-text.ts'
import { runs } from '../../../support/runs.ts'

const digit = fc.constantFrom(...'0123456789abcdef')
const digits = (length: number) =>
  fc.array(digit, { minLength: length, maxLength: length }).map(each => each.join(''))
/** Few, so that several changes have one in common; some end with zeros, as ids of notes do. */
const hash = fc.oneof(
  fc.constantFrom('ab', '0f', '10').map(each => each.repeat(32)),
  digits(64),
  digits(24).map(start => start.padEnd(64, '0')),
  fc.constant('0'.repeat(64)),
)
const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const count = fc.oneof(fc.nat(300), fc.nat(), fc.maxSafeNat())
const timeMs = fc.nat(2 ** 31).map(seconds => seconds * 1_000)
const words = fc.array(fc.json({ maxDepth: 1 }), { maxLength: 2 })

/** Notes as they are: JSON with hashes, parts of them, and what a note often has. */
const note = fc.oneof(
  fc.json(),
  fc.string(),
  fc
    .array(
      fc.oneof(
        fc.constantFrom('{"by":"itself"}', '","argument":"', ' 1 call ago]', '"s1"', '[1,2,3,4]'),
        fc.constantFrom('ab'.repeat(32), 'ab'.repeat(4), '0f0f0f0f0', '12345678', '\\u0001'),
        fc.string({ unit: 'grapheme' }),
        fc.json(),
      ),
      { maxLength: 40 },
    )
    .map(parts => parts.join(''))
    .filter(text => text.length <= 8_192),
)

const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .record({ toolHash: word, kind: fc.constantFrom(...KINDS) }, { requiredKeys: [] })
    .map(match => ({ kind: 'invalidate', match }) as const),
  fc.record({
    kind: fc.constant('record' as const),
    lruSize: fc.nat(64),
    entry: fc.record({
      identity: hash,
      kind: fc.constantFrom(...KINDS),
      toolHash: word,
      pathHash: word,
      callHash: word,
      bytes: fc.nat(),
      timeMs,
      answer: fc.constantFrom(...ANSWERS),
      of: fc.nat(5_000),
    }),
  }),
  // A text has one size.
  fc.record({ kind: fc.constant('body' as const), identity: hash, note }).map(each => ({
    ...each,
    bytes: Number.parseInt(each.identity.slice(0, 6), 16),
  })),
  fc.record({ kind: fc.constant('note' as const), id: hash, note }),
  fc.record({
    kind: fc.constant('refer' as const),
    identity: hash,
    sequence: count,
    callHash: word,
  }),
  fc.record({
    kind: fc.constant('count' as const),
    counters: fc.dictionary(fc.constantFrom(...COUNTERS), fc.integer()),
  }),
  fc.record({ kind: fc.constant('hint' as const), family: fc.nat(20), max: fc.nat(65_535) }),
)
const turn = fc.record({ sequence: fc.nat(), timeMs, changes: fc.array(change, { maxLength: 8 }) })

describe('changes of results', () => {
  it('are those that were written, one by one and joined', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), words, (turns, known) => {
        const parts = turns.map(each => ({
          session: 's',
          epoch: 1,
          ...writeChanges(each, known),
        }))
        for (const [i, part] of parts.entries()) {
          expect(readChanges(part, known)).toEqual([turns[i]])
        }
        expect(readChanges(joinChanges(parts), known)).toEqual(turns)
      }),
      { numRuns: runs(300) },
    )
  })

  it('are read, or refused with a SyntaxError, whatever became of the bytes', () => {
    fc.assert(
      fc.property(turn, fc.nat(), fc.nat(255), (each, place, byte) => {
        const { bytes, texts } = writeChanges(each, [])
        const damaged = Uint8Array.from(bytes)
        damaged[place % bytes.length] = byte
        for (const wrong of [damaged, bytes.subarray(0, place % bytes.length)]) {
          try {
            readChanges({ bytes: wrong, texts }, [])
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError)
          }
        }
      }),
      { numRuns: runs(500) },
    )
  })
})

it('a note is the one that was shortened', () => {
  fc.assert(
    fc.property(note, words, fc.array(hash, { maxLength: 100 }), (text, known, hashes) => {
      const shared = { words: known, hashes }
      expect(expandNote(Buffer.from(shortenNote(text, shared)), shared)).toBe(text)
    }),
    { numRuns: runs(500) },
  )
})

it.each([
  ['has control characters', 'a\u0001  b\u0005c\u0002', []],
  ['has a name with signs of a replacement', '{"session":"$&$1$$"}', ['"$&$1$$"']],
  ['names a hash far behind', `"${'0f'.repeat(32)}" and "${'0f'.repeat(4)}"`, []],
  ['is long', JSON.stringify({ content: 'a line of a result\n'.repeat(200) }), []],
])('a note is the one that was shortened if it %s', (_, text, words) => {
  const hashes = [...Array.from({ length: 98 }, (_, i) => `${100 + i}`.padEnd(64, 'e'))]
  const shared = { words, hashes: [...hashes, '0f'.repeat(32)] }
  expect(expandNote(Buffer.from(shortenNote(text, shared)), shared)).toBe(text)
})

it('the name of the job that made a note stays with its process', () => {
  const id = 'ab'.repeat(32)
  const written = (text: string) => {
    const changes = [{ kind: 'note', id, note: text }] as const
    return readChanges(writeChanges({ sequence: 1, timeMs: 1, changes }, []), [])[0]?.changes
  }
  expect(written('{"attempt":"a-b","by":"itself"}')).toEqual([
    { kind: 'note', id, note: '{"by":"itself"}' },
  ])
  const other = '{"by":"itself","attempt":"a"}'
  expect(written(other)).toEqual([{ kind: 'note', id, note: other }])
})

it('numbers and hashes are those that were written', () => {
  const signed = fc.integer({ min: -(2 ** 51), max: 2 ** 51 })
  fc.assert(
    fc.property(count, signed, word, hash, fc.uint8Array(), (number, either, bits, id, block) => {
      const { bytes } = new ByteWriter()
        .count(number)
        .signed(either)
        .word(bits)
        .hash(id)
        .block(block)
      const reader = new ByteReader(bytes)
      expect([reader.count(), reader.signed(), reader.word(), reader.hash()]).toEqual([
        ...[number, either, bits, id],
      ])
      expect(Buffer.compare(reader.block(), block)).toBe(0)
      expect(reader.isAtEnd).toBe(true)
    }),
    { numRuns: runs(300) },
  )
})
