import { describe, expect, it } from 'vitest'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import { tiktokenIds } from '../../../../src/runtime/tiktoken.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { someOf } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'

/** Texts at the edges of both split patterns, by what they try. */
const CORNERS: Readonly<Record<string, readonly string[]>> = {
  empty: [''],
  'letter case': ['ABCdef', 'abcDEF', 'aBcDeF', 'ABC', 'HTTPServer', 'ǅungla', 'aǅ', 'ǅǅa', 'ⅷⅧ'],
  'letters without case': [
    'あAA',
    'AあAA',
    'AAあbb',
    'aあB',
    'あいう',
    'ªº',
    'ʰA',
    'Aʰ',
    'AʰB',
    '中文ABC中',
  ],
  marks: [
    'e\u0301',
    '\u0301',
    ' \u0301a',
    '(\u0301(',
    '((\u0301((',
    '\u0301AB',
    'A\u0301B',
    '\u0301\u0301\n',
    '1\u0301',
    '\n\u0301a',
    "\u0301's",
  ],
  contractions: [
    "it's",
    "IT'S",
    "we'Re",
    "I'LL",
    "x'l",
    "x'lx",
    "x'v",
    "x'ſ",
    "'ſ",
    "'s",
    "''s",
    "'rex",
    "'Tis",
    "a'd'd",
    "a's's",
    "1's",
    " 's",
    "_'s",
    "é's",
    "'K",
    "x'\u212a",
    "'m",
    "'r",
    "'l",
    "x'",
    "'",
  ],
  'trailing white space': [
    'a ',
    'a  ',
    'a \n',
    'a  b',
    'a   b',
    ' ',
    '  ',
    '   ',
    '\t',
    '\t\t',
    'a\t\tb',
    ' \t b',
    'a\u00a0b',
    'a\u00a0 b',
    'a \u00a0b',
    '\u3000',
    '\u2028x',
    'x \u2028',
    '\u0085',
    'a\u0085\u0085b',
    '\ufeff a',
    '\u180e a',
    '\u200b a',
    '\v\fx',
  ],
  newlines: [
    '\n',
    '\r\n',
    '\n\n',
    ' \n',
    '\n ',
    '\n \n',
    '\n  \n  x',
    '\n\n  x',
    '\r\r\n  \t\nx',
    'a\n b',
    '\n\u3000\nx',
    '\u3000\n\u3000x',
    '\n\u3000x',
    '\t\n\t(',
    '\n/',
    '/\n',
  ],
  'after punctuation': [
    '(\n',
    '(\n\n',
    '(\n/',
    '(/\n/\n',
    '(\r\n/x',
    ' /\n',
    '//\n//',
    '!/',
    '(\n!',
    '(\n 1',
    '/\n',
    '/a',
    '//a',
    ' //a',
    'a/b',
    '?/\r/x',
    ' (\n',
    '"\n\n"',
  ],
  prefixes: [
    '(a',
    '((a',
    ' a',
    '  a',
    '\ta',
    '\u00a0a',
    '$A',
    '$1',
    ' 1',
    '_a',
    '-あ',
    '😀a',
    '😀😀a',
    ' 😀',
    ' 😀a',
    '\u200da',
    'a\u200db',
    '!\u3000a',
  ].filter(Boolean),
  numbers: [
    '1',
    '12',
    '123',
    '1234',
    '12345678',
    '١٢٣٤',
    '1٢3Ⅳ5',
    '½½½½',
    '1a2',
    '²³¹⁰',
    '1,234.5',
    '１２３４',
    '𝟙𝟚𝟛𝟜',
  ],
  'special tokens as text': [
    '<|endoftext|>',
    'a<|endofprompt|>b',
    '<|fim_prefix|><|fim_middle|>',
    '<|im_start|>',
  ],
  'lone surrogates': [
    '\ud800',
    '\udc00',
    'a\ud83d',
    '\ude00a',
    '\ud83d\ud83d\ude00',
    '\udc00\ud800',
    "'\udfff's",
  ],
  'long pieces': [
    'a'.repeat(500),
    'ab'.repeat(300),
    ' '.repeat(400),
    `${' '.repeat(400)}x`,
    '\n'.repeat(300),
    '-'.repeat(300),
    '='.repeat(129),
    '中'.repeat(200),
    'e\u0301'.repeat(200),
    '👩‍👩‍👧'.repeat(60),
    'Zz'.repeat(90),
    'qwxzjk'.repeat(100),
    `\n${' '.repeat(131)}`.repeat(9),
  ],
  'piece lengths around the cache': Array.from(
    { length: 70 },
    (_, i) => `x${'qzj'.repeat(30).slice(0, i)}`,
  ),
}

describe.each(someOf(ENCODINGS, 1))('%s counts as tiktoken', encoding => {
  it.each(Object.entries(CORNERS))('%s', (_name, texts) => {
    const counter = counters.get(encoding)
    for (const text of texts) {
      const expected = tiktokenIds(text, encoding).length
      expect({ text, tokens: counter.count(text) }).toEqual({ text, tokens: expected })
      // Again from the cache, and inside other text.
      expect(counter.count(text)).toBe(expected)
      const inside = `x1${text}(y`
      expect(counter.count(inside)).toBe(tiktokenIds(inside, encoding).length)
    }
  })

  it('counts pairs of corners', () => {
    const counter = counters.get(encoding)
    const texts = Object.values(CORNERS)
      .flat()
      .filter(text => text.length < 12)
    for (const left of texts) {
      for (let i = 0; i < texts.length; i += 3) {
        const text = left + texts[(i + left.length) % texts.length]!
        if (counter.count(text) !== tiktokenIds(text, encoding).length)
          expect.fail(JSON.stringify(text))
      }
    }
  })

  it('counts text longer than its block', () => {
    const counter = counters.get(encoding)
    const lines = Array.from({ length: 9000 }, (_, i) => `line ${i}: "value" = ${i * 7}é\n`).join(
      '',
    )
    expect(counter.count(lines)).toBe(tiktokenIds(lines, encoding).length)
    // No safe boundary anywhere: the block grows, and the kernel is let go afterwards.
    const count = FULL_RUNS ? 900_000 : 20_000
    const unbroken = '漢，'.repeat(count)
    const short = '漢，'.repeat(1000)
    expect(counter.count(unbroken)).toBe((counter.count(short) / 1000) * count)
    expect(counter.count(lines)).toBe(tiktokenIds(lines, encoding).length)
  })

  it('stops at a limit', () => {
    const counter = counters.get(encoding)
    const text = 'one two three '.repeat(1000)
    const tokens = counter.count(text)
    expect(counter.countUpTo(text, tokens)).toBe(tokens)
    expect(counter.countUpTo(text, tokens + 1)).toBe(tokens)
    expect(counter.countUpTo(text, tokens - 1)).toBeGreaterThan(tokens - 1)
    const early = counter.countUpTo(text, 10)
    expect(early).toBeGreaterThan(10)
    expect(early).toBeLessThan(20)
    expect(counter.countUpTo('', 0)).toBe(0)
  })

  it('refuses what is not a string', () => {
    const { count } = counters.get(encoding)
    for (const value of [undefined, null, 5, {}, ['a']]) {
      expect(() => count(value as unknown as string)).toThrow(/invalid_request/)
    }
  })
})
