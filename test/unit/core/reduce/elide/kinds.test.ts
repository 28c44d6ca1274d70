import { describe, expect, it } from 'vitest'
import { BULK, CRITICAL } from '../../../../../src/core/reduce/elide/reducer.ts'
import { type RankedText, rankText } from '../../../../../src/core/reduce/elide/text-reducers.ts'

const times = <Item>(count: number, item: (at: number) => Item) =>
  Array.from({ length: count }, (_, at) => item(at))

function rank(lines: readonly string[]): RankedText {
  const ranked = rankText(lines.join('\n'))
  if (ranked === null) throw new Error('of no kind')
  return ranked
}

/** The lines with what became of each: `-` bulk, ` ` structure, `!` critical. */
function marked(lines: readonly string[]): string[] {
  const { ranks } = rank(lines)
  return lines.map((line, at) => `${'- !'.charAt(ranks[at]!)}${line}`)
}

const kept = (lines: readonly string[]) => {
  const { ranks } = rank(lines)
  return lines.filter((_, at) => ranks[at] !== BULK)
}

const info = (at: number) =>
  `12:00:${String(at % 60).padStart(2, '0')} INFO request ${at} took ${at % 7} ms`

describe('a log', () => {
  it('keeps its ends, failures with a line around them, and plain warnings', () => {
    const lines = times(100, info)
    lines[50] = '12:00:50 ERROR disk is full'
    lines[70] = '12:01:10 WARN retrying'
    expect(rank(lines).kind).toBe('log')
    expect(kept(lines)).toEqual([
      ...lines.slice(0, 3),
      ...lines.slice(49, 52),
      lines[70],
      ...lines.slice(-5),
    ])
  })

  it.each([
    [
      'Python, with its cause',
      [
        'Traceback (most recent call last):',
        '  File "a.py", line 3, in load',
        '    return table[key]',
        '           ~~~~~^^^^^',
        "KeyError: 'x'",
        '',
        'The above exception was the direct cause of the following exception:',
        '',
        'Traceback (most recent call last):',
        '  File "b.py", line 9, in main',
        '    load()',
        'app.Broken: no table',
      ],
    ],
    [
      'Java, with its cause',
      [
        'java.lang.IllegalStateException: no pool',
        '\tat app.Pool.take(Pool.java:12)',
        '\tat app.Main.main(Main.java:3)',
        'Caused by: java.io.IOException: closed',
        '\tat app.Socket.read(Socket.java:99)',
        '\t... 2 more',
      ],
    ],
    [
      'Go',
      [
        'panic: index out of range',
        '',
        'goroutine 1 [running]:',
        'main.take(0x1)',
        '\t/app/main.go:12 +0x1d',
        'main.main()',
        '\t/app/main.go:3 +0x11',
      ],
    ],
    [
      'JavaScript',
      ['TypeError: x is not a function', '    at f (a.js:1:2)', '    at async g (b.js:3:4)'],
    ],
  ])('keeps a stack trace of %s whole', (_, trace) => {
    const lines = [...times(40, info), ...trace, ...times(40, info)]
    const { ranks } = rank(lines)
    expect([...ranks.slice(40, 40 + trace.length)].every(each => each !== BULK)).toBe(true)
    expect(ranks[20]).toBe(BULK)
    expect(ranks[70 + trace.length]).toBe(BULK)
  })

  it.each(['2026-11-22T10:07:31Z step', '2026-11-22 10:07:31,123 step'])(
    'is told from lines around matches by its dates: %s',
    line => {
      expect(rank(Array.from({ length: 12 }, (_, i) => `${line} ${i}`)).kind).toBe('log')
    },
  )

  it('keeps the few lines that are not like the many', () => {
    const lines = times(200, info)
    lines[120] = 'the cache was rebuilt'
    expect(kept(lines)).toContain('the cache was rebuilt')
    expect(kept(times(200, at => (at % 2 === 0 ? info(at) : `${at} odd ${at}`)))).toHaveLength(8)
  })

  it('keeps what a run came to, and the heading above a failure', () => {
    const lines = [
      ...times(30, at => `test ${at} ... ok`),
      '______ test_split ______',
      'def test_split():',
      'E       AssertionError: 3 != 4',
      ...times(30, at => `test ${at} ... ok`),
      'Ran 61 tests in 0.1s',
      ...times(8, at => `cleaned ${at}`),
    ]
    expect(kept(lines)).toEqual(
      expect.arrayContaining(['______ test_split ______', 'Ran 61 tests in 0.1s']),
    )
  })

  it('of JSON objects is ranked by what their fields say, not by their words', () => {
    const line = (at: number, error: string | null, level = 'info') =>
      JSON.stringify({ at, level, msg: 'done', error })
    const lines = times(60, at => line(at, null))
    lines[30] = line(30, 'no route')
    lines[40] = line(40, null, 'panic')
    expect(kept(lines)).toEqual([...lines.slice(0, 5), lines[30], lines[40], ...lines.slice(-3)])
  })
})

describe('results of a search', () => {
  const hit = (at: number) => `src/a${at >> 5}.ts:${at + 1}: const x${at} = ${at}`
  it('keep a few of each file, both ends of it, and every failure', () => {
    const lines = ['Found 128 matches', ...times(128, hit)]
    lines[77] = 'src/a2.ts:78: throw new Error("failed")'
    expect(rank(lines).kind).toBe('search')
    const left = kept(lines)
    expect(left[0]).toBe('Found 128 matches')
    expect(left).toEqual(expect.arrayContaining([hit(0), hit(31), hit(127), lines[77]]))
    expect(left.length).toBeLessThan(25)
  })

  it('stay as they are where lines around the matches were asked for', () => {
    const lines = times(60, at =>
      at === 9 ? 'src/a.ts:10:found' : `src/a.ts-${at + 1}-  other();`,
    )
    expect(rankText(lines.join('\n'))).toBeNull()
    // With the line before and after each match, its path in full.
    const around = times(20, at => [
      `/home/me/src/a.ts-${9 * at + 1}-  if (x) {`,
      `src/a.ts:${9 * at + 2}:    log.error('it failed', x)`,
      ...(at % 3 === 0 ? [] : [`/home/me/src/a.ts-${9 * at + 3}-  }`]),
      '--',
    ])
    expect(rankText(around.flat().join('\n'))).toBeNull()
  })
})

it('a diff keeps every change, every header, and two lines around', () => {
  const lines = [
    'diff --git a/x b/x',
    '--- a/x',
    '+++ b/x',
    '@@ -1,13 +1,13 @@ head',
    ...times(6, at => ` before ${at}`),
    '-old',
    '+new',
    ...times(6, at => ` after ${at}`),
    '@@ -40,5 +40,4 @@',
    ' a',
    '-gone',
    ' b',
    ' c',
    ' d',
  ]
  expect(marked(lines)).toEqual([
    ' diff --git a/x b/x',
    ' --- a/x',
    ' +++ b/x',
    ' @@ -1,13 +1,13 @@ head',
    ...times(4, at => `- before ${at}`),
    '  before 4',
    '  before 5',
    '!-old',
    '!+new',
    '  after 0',
    '  after 1',
    ...times(4, at => `- after ${at + 2}`),
    ' @@ -40,5 +40,4 @@',
    '  a',
    '!-gone',
    '  b',
    '  c',
    '- d',
  ])
})

const CLASS = [
  "import { x } from './x.ts'",
  '',
  'export class Walker {',
  '  #depth = 0',
  '',
  '  walk(text: string): number {',
  "    const open = '{ not a brace'",
  '    for (const c of text) {',
  '      this.#depth += x(c)',
  '    }',
  "    if (this.#depth > 9) throw new RangeError('deep')",
  '    return this.#depth',
  '  }',
  '}',
  '',
  'export function twice(a: number): number {',
  '  /* a { comment',
  '     over lines } */',
  '  const b = a',
  '  // TODO round',
  '  return a + b',
  '}',
]

describe('code', () => {
  it('of brace languages keeps what stands outside of bodies, members, and what throws or is to do', () => {
    expect(rank(CLASS).kind).toBe('braces')
    const loop = CLASS.findIndex(line => line.includes('for (const c of text) {'))
    const end = CLASS.indexOf('    }', loop)
    const gone = [6, 8, 11, 16, 17, 18, loop, end]
    expect(kept(CLASS)).toEqual(CLASS.filter((_, at) => !gone.includes(at)))
  })

  it('keeps its gutter, and is read without it', () => {
    for (const gutter of [
      (n: number) => `${String(n).padStart(6)}→`,
      (n: number) => `${n}\t`,
      (n: number) => `${n}: `,
    ]) {
      const lines = CLASS.map((line, at) => gutter(at + 1) + line)
      expect([...rank(lines).ranks]).toEqual([...rank(CLASS).ranks])
      expect(rank(lines).lines).toEqual(lines)
    }
  })

  it('of indentation languages keeps signatures and decorators, and what raises', () => {
    const lines = [
      'import os',
      '',
      '@cached',
      'def load(path,',
      '         mode="r"):',
      '    """Reads it.',
      '',
      'and all of this is text',
      '    """',
      '    with open(path) as f:',
      '        text = f.read()',
      '        for line in text:',
      '            use(line)',
      '    if not text:',
      '        raise ValueError(path)',
      '    return text',
      '',
      'class Store:',
      '    def get(self, key):',
      '        value = self.data[key]',
      '        return value',
      '# end',
      'x = 1',
      'y = 2',
    ]
    expect(rank(lines).kind).toBe('indents')
    const gone = lines.filter(line => !kept(lines).includes(line) && line.trim() !== '')
    expect(gone.map(line => line.trim())).toEqual([
      '"""Reads it.',
      'and all of this is text',
      '"""',
      'with open(path) as f:',
      'text = f.read()',
      'for line in text:',
      'use(line)',
      'if not text:',
      'return text',
      'value = self.data[key]',
      'return value',
      '# end',
    ])
  })
})

describe('an outline of code', () => {
  it('of indentation languages has no blocks of bodies, but signatures, and what raises', () => {
    const lines = [
      'import os',
      ...times(4, at => [
        `def load_${at}(path,`,
        '         mode="r"):',
        '    if not path:',
        '        raise ValueError(path)',
        '    with open(path) as f:',
        '        return f.read()',
      ]).flat(),
      'x = 1',
      'y = 2',
    ]
    expect(rank(lines).kind).toBe('indents')
    const bodies = ['    if not path:', '    with open(path) as f:', '        return f.read()']
    expect(kept(lines)).toEqual(lines.filter(line => !bodies.includes(line)))
  })

  it('has the outer blocks if one body is most of the text', () => {
    const imports = (count: number) => times(count, at => `import { a${at} } from 'a'`)
    const suite = [
      "describe('a thing', () => {",
      ...times(20, at => [`  it('does ${at}', () => {`, '    make()', '    run()', '  })']).flat(),
      '})',
    ]
    expect(kept(suite)).toHaveLength(42)
    const shown = kept([...imports(8), ...suite])
    expect(shown).toEqual([...imports(8), suite[0], suite.at(-2), suite.at(-1)])
  })
})

describe('prose', () => {
  const plain = (at: number) =>
    `This is the sentence number ${at} of a long and quiet report about nothing.`
  it('keeps ends, first sentences and demands; the rest of a line goes as characters', () => {
    const long = [
      ...times(12, plain),
      'You must never open the valve.',
      ...times(4, at => plain(at + 20)),
    ]
    const lines = [long.join(' '), '', long.slice(2).join(' ')]
    const { kind, ranks, inner } = rank(lines)
    expect(kind).toBe('prose')
    expect([...ranks]).toEqual([CRITICAL, BULK, CRITICAL])
    const gone = inner?.get(0)?.map(({ start, end }) => lines[0]!.slice(start, end)) ?? []
    expect(gone).toHaveLength(2)
    expect(gone.join('')).not.toMatch(/number [012] |valve/)
  })

  it('is what Markdown is, whatever it quotes', () => {
    const doc = [
      '# A',
      '## B',
      ...times(20, plain),
      '```',
      'ERROR: x',
      ...CLASS,
      '```',
      '## C',
      plain(3),
    ]
    expect(rank(doc).kind).toBe('prose')
    expect(kept(doc)).toEqual(expect.arrayContaining(['# A', '## B', '## C', 'ERROR: x']))
  })

  it('of other scripts ends its sentences with other stops', () => {
    const text = times(40, at => `这是第${at}个很长的句子，它没有说什么重要的事情。`).join('')
    const { kind, inner } = rank([text, text, text, text])
    expect(kind).toBe('prose')
    expect(inner?.size).toBeGreaterThan(0)
  })
})

it.each([
  ['a list of files', times(80, at => `src/part-${at}/error-${at}.ts`)],
  ['a table', times(80, at => `${at},${at * 7},open`)],
  ['nothing', ['']],
  ['one long line', ['x'.repeat(100_000)]],
  ['numbers', times(90, at => String(at * at))],
  ['what looks binary', times(50, at => String.fromCharCode(at, at * 3, 0xd800 + at).repeat(30))],
])('%s is of no kind', (_, lines) => {
  expect(rankText(lines.join('\n'))).toBeNull()
})

it.each(['\n', '\r\n'])('ranks are one for each line, whatever ends it: %j', end => {
  const ranked = rankText([...CLASS, ''].join(end))
  expect(ranked?.ranks).toHaveLength(CLASS.length + 1)
  expect(ranked?.kind).toBe('braces')
})
