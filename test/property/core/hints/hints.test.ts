import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Hint, VERBOSITIES } from '../../../../src/core/hints/hint.ts'
import { hintLine, parseHint } from '../../../../src/core/hints/hint-line.ts'
import { looksLikeHint } from '../../../../src/core/hints/looks-like-hint.ts'
import { runs } from '../../../support/runs.ts'
import { keptFacts } from './facts.ts'
import { HINTS, hostile, verbosity } from './hints.ts'

/** Line breaks, controls and characters that nobody sees, by Unicode's own properties. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

describe.each(Object.keys(HINTS) as Hint['family'][])('%s', family => {
  const hints = HINTS[family] as fc.Arbitrary<Hint>

  test('what is read from a line is what the line tells', () => {
    fc.assert(
      fc.property(hints, verbosity, (hint, v) => {
        const line = hintLine(hint, v)
        fc.pre(line !== null)
        expect(parseHint(line)).toStrictEqual(keptFacts(hint, v))
      }),
      { numRuns: runs(1500) },
    )
  })

  test('no content ends the hint, breaks its line or hides in it', () => {
    fc.assert(
      fc.property(hints, verbosity, (hint, v) => {
        const line = hintLine(hint, v)
        fc.pre(line !== null)
        expect(line).not.toMatch(UNSAFE)
        expect(looksLikeHint(line)).toBe(true)
        // No other hint begins or ends inside: every piece between brackets, quoted or not, is
        // none.
        for (
          let at = line.indexOf(']');
          at >= 0 && at < line.length - 1;
          at = line.indexOf(']', at + 1)
        ) {
          expect(parseHint(line.slice(0, at + 1))).toBeNull()
        }
        for (let at = line.indexOf('[', 3); at >= 0; at = line.indexOf('[', at + 1)) {
          expect(parseHint(`> ${line.slice(at)}`)).toBeNull()
        }
      }),
      { numRuns: runs(500) },
    )
  })

  test('any other line is no hint, or differs in what it tells', () => {
    const edit = fc.record({ at: fc.nat(), gone: fc.nat({ max: 3 }), put: hostile })
    fc.assert(
      fc.property(hints, verbosity, edit, (hint, v, { at, gone, put }) => {
        const line = hintLine(hint, v)
        fc.pre(line !== null)
        const from = at % (line.length + 1)
        const edited = line.slice(0, from) + put + line.slice(from + gone)
        fc.pre(edited !== line)
        const read = parseHint(edited)
        const told = parseHint(line)
        if (read === null || told === null) return
        // What tells the same is the same hint in another verbosity.
        if (isDeepStrictEqual(read, told)) {
          expect(VERBOSITIES.map(other => hintLine(told, other))).toContain(edited)
        }
      }),
      { numRuns: runs(1500) },
    )
  })
})

test('random lines are refused without a fault', () => {
  fc.assert(
    fc.property(hostile, hostile, (a, b) => {
      for (const line of [
        a,
        `> [${a}]`,
        `> [ref 00000000 ${a}]`,
        `> [+1: ${a}(${b})]`,
        `> [elided: ${a} | ${b}]`,
      ]) {
        const hint = parseHint(line)
        expect(hint === null || looksLikeHint(line)).toBe(true)
      }
    }),
    { numRuns: runs(3000) },
  )
})
