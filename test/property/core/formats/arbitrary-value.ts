import fc from 'fast-check'
import { parseNumber } from '../../../../src/core/json/parse-number.ts'
import { NumberLiteral, ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { anyText } from '../../../support/any-text.ts'

/** Pieces that mean something to a parser, a format, a terminal or a channel. */
const PIECES = [
  ...'",:[]{}|\\/\'`#-> \t\n\r\u0000\u001b\u007f\u0085\u00a0\u2028\ufeff\ud800\udfff😀é0a',
  '""',
  '\r\n',
  ': ',
  ', ',
  '\\n',
  '\\u0000',
  'null',
  'true',
  'false',
  '1',
  '-0',
  '1.0',
  '1e5',
  'NaN',
  '-Infinity',
  '[]',
  '{}',
  '{"a":1}',
  '"a"',
  '__proto__',
  '```',
  '> [ref: 0]',
]

const nastyString = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map(p => p.join('')),
  },
  { weight: 2, arbitrary: anyText({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('Ann', 'a b', 'user_id', 'état', 'x') },
  { weight: 1, arbitrary: fc.double().map(String) },
)

/** Spellings of JSON numbers, most of which a double would not keep. */
const numberSpelling = fc.oneof(
  fc.constantFrom('0', '-0', '0.0', '1.0', '-1.50', '1e400', '1E5', '1e+21', '1e-7', '0.000001'),
  fc.integer().map(String),
  fc.bigInt({ max: 10n ** 30n, min: -(10n ** 30n) }).map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map(n => (Object.is(n, -0) ? '-0' : String(n))),
  fc
    .tuple(
      fc.boolean(),
      fc.nat(),
      fc.array(fc.nat(9), { minLength: 1 }),
      fc.integer({ min: -400, max: 400 }),
    )
    .map(
      ([minus, int, digits, exponent]) =>
        `${minus ? '-' : ''}${int}.${digits.join('')}e${exponent}`,
    ),
)

const scalar: fc.Arbitrary<Value> = fc.oneof(
  { weight: 3, arbitrary: nastyString },
  { weight: 2, arbitrary: numberSpelling.map(text => parseNumber(text, 0, text.length)!) },
  { weight: 1, arbitrary: fc.constantFrom<Value>(null, true, false) },
)

function objectOf(member: fc.Arbitrary<Value>, key: fc.Arbitrary<string> = nastyString) {
  return fc.array(fc.tuple(key, member), { maxLength: 5 }).map(
    members =>
      new ObjectValue(
        members.map(m => m[0]),
        members.map(m => m[1]),
      ),
  )
}

/** Rows over one list of distinct names: each takes some of them, mostly in order. */
function tableOf(member: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc
    .tuple(fc.uniqueArray(nastyString, { minLength: 1, maxLength: 5 }), fc.boolean())
    .chain(([names, whole]) =>
      fc.array(
        (whole ? fc.constant(names) : fc.subarray(names)).chain(keys =>
          fc
            .array(member, { minLength: keys.length, maxLength: keys.length })
            .map(values => new ObjectValue(keys, values)),
        ),
        { minLength: 1, maxLength: 6 },
      ),
    )
}

/** Nested members; two levels are enough to meet every rule, and keep a counterexample readable. */
const nested: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>(tie => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    objectOf(tie('value')),
  ),
})).value

const member = fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: nested })

/**
 * Documents weighted to strings, keys and numbers that a careless format would confuse: tables
 * and objects, which the formats accept, and rarely anything else.
 */
export const arbitraryDocument: fc.Arbitrary<Value> = fc.oneof(
  { weight: 5, arbitrary: tableOf(member) },
  { weight: 4, arbitrary: objectOf(member) },
  { weight: 1, arbitrary: fc.oneof(nested, fc.array(nested, { maxLength: 4 })) },
)

/** Text made of the same pieces; hardly ever what a format wrote. */
export const arbitraryText = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map(pieces => pieces.join('')),
  anyText({ maxLength: 40 }),
)

/** Cuts a text and puts a piece, or nothing, in the place of a few characters. */
export const arbitraryEdit = fc
  .tuple(fc.nat(), fc.nat(3), fc.constantFrom('', ...PIECES))
  .map(([position, removed, piece]) => (text: string): string => {
    const at = position % (text.length + 1)
    return text.slice(0, at) + piece + text.slice(at + removed)
  })

/** The numbers of JSON that stand for those of Python, which `JSON.parse` refuses. */
const PYTHON_NUMBERS: Readonly<Record<string, string>> = {
  '-0': 'NaN',
  '1.0': 'Infinity',
  '1e400': '-Infinity',
}

/** The value with some numbers as Python writes them and JSON does not. */
export function withPythonNumbers(value: Value): Value {
  if (value instanceof NumberLiteral) {
    return new NumberLiteral(PYTHON_NUMBERS[value.text] ?? value.text)
  }
  if (value instanceof ObjectValue) {
    return new ObjectValue(value.keys, value.values.map(withPythonNumbers))
  }
  return Array.isArray(value) ? value.map(withPythonNumbers) : value
}
