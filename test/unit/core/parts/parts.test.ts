import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { type PartQuery, parsePart } from '../../../../src/core/parts/parse-part.ts'
import type { Part } from '../../../../src/core/parts/part.ts'
import { selectPart } from '../../../../src/core/parts/select-part.ts'

function select(body: string, query: PartQuery): Part & { readonly text: string } {
  const part = selectPart(new TextEncoder().encode(body), parsePart(query)!)
  return { ...part, text: new TextDecoder().decode(part.content) }
}

/** The refusal of a part, as a client sees it. */
function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error.code).toBe('invalid_request')
    expect(error.extras.errors).toHaveLength(1)
    const { path, message } = error.extras.errors![0]!
    expect(error.detail).toBe(`${path}: ${message}`)
    return error.detail
  }
  throw new Error('was not refused')
}

describe('what is asked for', () => {
  test('nothing: the whole body', () => {
    expect(parsePart({})).toBeUndefined()
  })

  test.each<[PartQuery, RegExp]>([
    [{ lines: '' }, /^lines: is written/],
    [{ lines: '-' }, /^lines: is written/],
    [{ lines: '1-2-3' }, /^lines: is written/],
    [{ lines: '1.5' }, /^lines: is written/],
    [{ lines: ' 1' }, /^lines: is written/],
    [{ lines: '9999999999999999' }, /^lines: is written/],
    [{ lines: '0-3' }, /^lines: lines count from 1/],
    [{ lines: '-0' }, /^lines: the last 0/],
    [{ bytes: '5-4' }, /^bytes: ends before/],
    [{ path: 'items' }, /^path: begins with \$/],
    [{ path: '$.' }, /^path: cannot be read from character 2/],
    [{ path: '$.a[' }, /^path: cannot be read from character 4/],
    [{ path: '$[a]' }, /^path: cannot be read/],
    [{ path: "$['a]" }, /^path: cannot be read/],
    [{ path: '$[1:2:3]' }, /^path: cannot be read/],
    [{ path: '$[*]' }, /^path: cannot be read/],
    [{ path: "$['\\q']" }, /is no string/],
    [{ path: `$${'.a'.repeat(33)}` }, /^path: has more than 32 steps/],
    [{ path: `$${'[-1]'.repeat(5)}` }, /^path: counts from the end/],
    [{ path: `$.${'a'.repeat(1024)}` }, /^path: is longer/],
    [{ grep: '' }, /^grep: is 1 to/],
    [{ grep: 'x'.repeat(1025) }, /^grep: is 1 to/],
    [{ grep: 'a\nb' }, /^grep: .*line break/],
    [{ grep: 'a', context: '21' }, /^context: is a number/],
    [{ grep: 'a', context: '-1' }, /^context: is a number/],
    [{ grep: 'a', ignore_case: 'yes' }, /^ignore_case: is true or false/],
    [{ lines: '1', context: '2' }, /^context: belongs to grep/],
    [{ ignore_case: 'true' }, /^ignore_case: belongs to grep/],
    [{ lines: '0', path: '$' }, /^lines: lines count from 1/],
    [{ lines: '1', path: '$', bytes: '1' }, /^path: cannot be combined with bytes/],
  ])('%j is refused', (query, message) => {
    expect(refusal(() => parsePart(query))).toMatch(message)
  })
})

describe('ranges', () => {
  test('a part says where it lies, clipped to what there is', () => {
    const body = 'one\ntwo\nthree'
    expect(select(body, { lines: '2-9' })).toMatchObject({
      text: 'two\nthree',
      first: 2,
      last: 3,
      total: 3,
    })
    expect(select(body, { lines: '-9' })).toMatchObject({ text: body, first: 1, last: 3 })
    expect(select(body, { bytes: '11-99' })).toMatchObject({
      text: 'ee',
      first: 11,
      last: 12,
      total: 13,
    })
  })

  test('what lies outside is refused with the total', () => {
    expect(refusal(() => select('a\nb\n', { lines: '3' }))).toBe('lines: the original has 2 lines')
    expect(refusal(() => select('{}', { lines: '2' }))).toContain('one line: name a path')
    expect(refusal(() => select('', { lines: '1-' }))).toBe('lines: the original has 0 lines')
    expect(refusal(() => select('abc', { bytes: '3-' }))).toBe('bytes: the original has 3 bytes')
  })
})

describe('paths', () => {
  const body =
    ' {"items": [ {"name":"a","n":1.0}, {"n":12345678901234567890}, {"name":"c"} ], "it\'s": -0 }\n'

  test.each([
    ['$.items[0].n', '1.0', 1],
    ['$.items[1].n', '12345678901234567890', 1],
    ['$.items[1:2]', '[{"n":12345678901234567890}]', 1],
    ['$.items[:].name', '["a","c"]', 2],
    ['$.items[-1].name', '"c"', 1],
    ['$["it\'s"]', '-0', 1],
    ["$['it\\'s']", '-0', 1],
    ['$.items[7:9]', '[]', 0],
    ['$.items[0][:]', '[]', 0],
    ['$', body.trim(), 1],
  ])('%s', (path, text, values) => {
    expect(select(body, { path })).toMatchObject({ text, values })
  })

  test.each([
    ['[-1]', [199]],
    ['[-64]', [136]],
    ['[-65]', [135]],
    ['[-200]', [0]],
    ['[-73:-71]', [127, 128]],
    ['[126:-71]', [126, 127, 128]],
    ['[-300:2]', [0, 1]],
    ['[:-199]', [0]],
    ['[200:-1]', []],
  ])('elements of a long list counted from the end: %s', (step, wanted) => {
    const items = Array.from({ length: 200 }, (_, n) => ({ n, text: `]}"\\${n}` }))
    const met = wanted.map(n => items[n])
    const { text } = select(JSON.stringify({ items }, null, 1), { path: `$.items${step}` })
    expect(JSON.parse(text)).toEqual(step.includes(':') ? met : met[0])
  })

  test.each([
    ['[{"a":"b}]', 6],
    ['[{"a":[1,2}', 11],
    ['[["\\\\","\\"]]', 7],
    ['[["a""b', 5],
    ['[[', 2],
    ['[]]', 2],
    ['[', 1],
    ['[}', 1],
  ])('a list that does not end is refused with the place: %s', (text, byte) => {
    const told = refusal(() => select(text, { path: '$[9]' }))
    expect(told).toBe(`path: the original is no JSON (byte ${byte})`)
  })

  test('what is not there, and what is no JSON, is refused', () => {
    expect(refusal(() => select(body, { path: '$.items[3].name' }))).toBe(
      'path: nothing is at $.items[3]',
    )
    expect(refusal(() => select(body, { path: '$.items.name' }))).toMatch(/at \$\.items\.name$/)
    const broken = ['', 'a', '{', '{"a":1', '{"a":1}}', '"a', ']', '01', 'nul', '"a"b']
    for (const text of broken) expect(refusal(() => select(text, { path: '$' }))).toMatch(/no JSON/)
    for (const text of ['{"a" 1}', '{a:1}', '{"a":1,}', '{"b":0 "a":1}']) {
      expect(refusal(() => select(text, { path: '$.a' }))).toMatch(/no JSON/)
    }
    for (const text of ['[1 2]', '[1,]', '[,1]', '[1:2]']) {
      expect(refusal(() => select(text, { path: '$[0]' }))).toMatch(/no JSON/)
    }
  })

  test('deep nesting does no harm', () => {
    const deep = 100_000
    const body = `${'['.repeat(deep)}1${']'.repeat(deep)}`
    expect(select(body, { path: '$[0][0]' }).text).toHaveLength(2 * deep + 1 - 4)
  })
})

describe('grep', () => {
  test('long lines are cut around the match, between characters', () => {
    const { text } = select(`${'é'.repeat(5000)}needle${'😀'.repeat(5000)}\n`, { grep: 'needle' })
    expect(text).toMatch(/^1:…é+needle😀+…\n$/u)
    expect(text.length).toBeLessThan(1100)
    expect(select(`needle${'x'.repeat(5000)}`, { grep: 'needle' }).text).toMatch(/^1:needlex+…\n$/)
    expect(select(`${'x'.repeat(5000)}needle`, { grep: 'needle' }).text).toMatch(/^1:…x+needle\n$/)
  })

  test('only so much is shown, the rest is counted', () => {
    const many = select('match\n'.repeat(1000), { grep: 'match' })
    expect(many).toMatchObject({ matches: 1000, shown: 200 })
    expect(many.text.split('\n')).toHaveLength(201)
    const wide = select(`${'x'.repeat(1000)} match\n`.repeat(1000), { grep: 'match' })
    expect(wide).toMatchObject({ matches: 1000, shown: 65 })
    expect(wide.content.byteLength).toBeLessThan(66_000)
    expect(select('nothing here', { grep: 'match' })).toMatchObject({
      text: '',
      matches: 0,
      shown: 0,
    })
  })

  test('only ASCII letters are taken for each other', () => {
    expect(select('İÉa\n', { grep: 'éA', ignore_case: 'true' })).toMatchObject({ matches: 0 })
    expect(select('xÉa\n', { grep: 'XÉA', ignore_case: 'true' })).toMatchObject({ matches: 1 })
  })
})

describe('lines of a text in JSON', () => {
  const body = JSON.stringify({
    logs: [{ text: 'one\ntwo "2"\nthree\n' }, { text: 'é\ud800' }],
    n: 7,
  })

  test('are those of the text, not of the JSON', () => {
    const part = select(body, { path: '$.logs[0].text', lines: '2-3' })
    expect(part).toMatchObject({ kind: 'lines', first: 2, last: 3, text: 'two "2"\nthree\n' })
    expect(select(body, { path: '$.logs[-2].text', lines: '-1' }).text).toBe('three\n')
  })

  test.each([
    ['$.n', /^lines: needs a path to one text/],
    ['$.logs[:].text', /^lines: needs a path to one text/],
    ['$.logs[1].text', /^lines: needs a text that UTF-8/],
    ['$.logs[9].text', /^path: nothing is at/],
  ])('are refused at %s', (path, detail) => {
    expect(refusal(() => select(body, { path, lines: '1' }))).toMatch(detail)
  })

  test('are refused in a string with a broken escape', () => {
    expect(refusal(() => select('{"a":"\\q"}', { path: '$.a', lines: '1' }))).toMatch(/one text/)
  })
})
