import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { runs } from '../../../support/runs.ts'
import { arbitraryDocument, arbitraryEdit, arbitraryText } from './arbitrary-value.ts'

const RUNS = runs(5000)

/**
 * Accepts and rejects like the built-in parser, and means the same where that one keeps the
 * meaning.
 */
function agreesWithBuiltIn(text: string): void {
  let expected: string | undefined
  try {
    expected = JSON.stringify(JSON.parse(text))
  } catch {
    expected = undefined
  }
  const parsed = parseJson(text)
  if (PYTHON_NUMBER.test(text)) return
  const actual = parsed.ok ? JSON.stringify(JSON.parse(writeJson(parsed.value))) : undefined
  // Compared as texts: the runner's own deep comparison stumbles over keys such as `__proto__`.
  if (actual !== expected && parsed.ok)
    expect(inNewContext(text)).toBe(inNewContext(writeJson(parsed.value)))
  else expect(actual).toBe(expected)
}

/**
 * By a parser that has read nothing else: V8's takes an escaped key for an unlike one that an earlier
 * object had there (https://github.com/nodejs/node/issues/63785).
 */
function inNewContext(text: string): string {
  return runInNewContext('JSON.stringify(JSON.parse(text))', { text })
}

/** What `JSON.parse` refuses, and `parseJson` takes outside of strings. */
const PYTHON_NUMBER = /NaN|Infinity/

it('agrees with JSON.parse on values, also with white space between the tokens', () => {
  fc.assert(
    fc.property(arbitraryDocument, fc.constantFrom('', ' ', '\n\t', '\r\n'), (value, space) => {
      agreesWithBuiltIn(space + writeJson(value) + space)
    }),
    { numRuns: RUNS },
  )
})

it('agrees with JSON.parse on altered JSON, and knows whether it is compact', () => {
  fc.assert(
    fc.property(arbitraryDocument, fc.array(arbitraryEdit, { minLength: 1 }), (value, edits) => {
      const text = edits.reduce((edited, edit) => edit(edited), writeJson(value))
      agreesWithBuiltIn(text)
      const parsed = parseJson(text)
      if (parsed.ok && parsed.compact) expect(writeJson(parsed.value)).toBe(text)
    }),
    { numRuns: RUNS },
  )
})

it('agrees with JSON.parse on any text', () => {
  fc.assert(fc.property(arbitraryText, agreesWithBuiltIn), { numRuns: RUNS })
})

it('writes what it reads, character by character, where nothing was escaped or spaced', () => {
  fc.assert(
    fc.property(arbitraryDocument, value => {
      const text = writeJson(value)
      const parsed = parseJson(text)
      expect(parsed.ok && writeJson(parsed.value)).toBe(text)
      expect(parsed.ok && parsed.compact).toBe(!text.includes('\\') && text.isWellFormed())
    }),
    { numRuns: RUNS },
  )
})

/** What a long string may be made of, each repeated some times. */
const piece = fc.tuple(
  fc.constantFrom('a', 'é', '→', '\ud83d', ' ', '\\n', '\\"', '\\\\', '\\/', '\\u00e9', '\\ud800'),
  fc.oneof({ weight: 3, arbitrary: fc.nat(40) }, fc.nat(1_300)),
)
const flaw = fc.constantFrom('', '', '\\x', '\\u12g4', '\\u1', '\n', '\u0000', '\u001f', '"', '\\')

it('agrees with JSON.parse on long strings, and says where one stops being JSON', () => {
  const parts = fc.array(piece, { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(parts, flaw, fc.nat(60), (before, fault, after) => {
      const start = `["${before.map(([text, times]) => text.repeat(times)).join('')}`
      const text = `${start}${fault}${'b'.repeat(after)}","${'c'.repeat(after)}"]`
      agreesWithBuiltIn(text)
      const parsed = parseJson(text)
      if (parsed.ok) {
        const isCompact = !text.includes('\\') && text.isWellFormed()
        expect(parsed.compact).toBe(isCompact)
      } else if (fault !== '' && !fault.startsWith('"') && fault !== '\\') {
        expect(parsed.offset).toBe(start.length)
      }
    }),
    { numRuns: runs(1500) },
  )
})
