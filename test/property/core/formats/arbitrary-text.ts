import fc from 'fast-check'

/** Words with everything that a format uses for itself, and text that some channels alter. */
const word = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom(
    '|',
    '\\|',
    '\\',
    '```',
    '~~~',
    '→',
    '…',
    '*',
    '×3',
    '×3 (2 lines)',
    ',',
    '"',
    '{',
    '[1]',
    '# a',
  ),
  fc.constantFrom(
    '\r',
    '\t',
    '\u0000',
    '\u05d0\u05d1',
    '\u202e',
    '😀',
    '\ud800',
    '1',
    '12',
    '-',
    ':',
  ),
)
const cell = fc.array(word, { maxLength: 3 }).map(words => words.join('').replaceAll('\n', ''))
const eol = fc.constantFrom('\n', '\n', '\r\n')

/** Tables: well formed, ragged, padded, indented, and what only looks like one. */
const table = fc
  .record({
    indent: fc.constantFrom('', '', '  ', '> '),
    rows: fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
    delimiter: fc.array(fc.constantFrom('---', ':--', '--:', ':-:', '-', '-----', ' --- ', 'x')),
    pad: fc.constantFrom<(c: string) => string>(
      c => ` ${c} `,
      c => c,
      c => ` ${c.padEnd(5)} `,
    ),
    eol,
  })
  .map(({ indent, rows, delimiter, pad, eol: end }) => {
    const width = rows[0]!.length
    const dashes = Array.from({ length: width }, (_, i) => delimiter[i] ?? '---')
    const body = rows.map(row => `${indent}|${row.map(pad).join('|')}|`)
    return [body[0], `${indent}|${dashes.join('|')}|`, ...body.slice(1), ''].join(end)
  })

/** Tables as programs and models write them. */
const neat = fc
  .record({
    indent: fc.constantFrom('', '', '    '),
    rows: fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 5 }),
    delimiter: fc.constantFrom('|---|---|', '| --- | --- |', '| :-- | --: |', '|-|:-:|'),
    eol,
  })
  .map(({ indent, rows, delimiter, eol: end }) => {
    const bare = (text: string) => text.replace(/[\\|\r]/g, '').trim() || 'x'
    const lines = rows.map(row => `| ${row.map(bare).join(' | ')} |`)
    return [lines[0], delimiter, ...lines.slice(1)].map(line => indent + line).join(end) + end
  })

/** Numbered lines, mostly counting up. */
const gutters = fc
  .record({
    first: fc.integer({ min: 0, max: 1200 }),
    width: fc.integer({ min: 0, max: 7 }),
    separator: fc.constantFrom('→', '\t', ':', ' '),
    lines: fc.array(fc.tuple(cell, fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 0)), { maxLength: 20 }),
    eol,
  })
  .map(({ first, width, separator, lines, eol: end }) => {
    let number = first
    return lines
      .map(([text, step]) => {
        number += step
        return String(number).padStart(width) + separator + text
      })
      .join(end)
  })

const times = fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 7, 8, 30)

/** Lines that share prefixes, some of them equal, or all of them again in turn. */
const paths = fc
  .tuple(
    fc.array(
      fc.tuple(
        fc.constantFrom('src/core/', 'src/core/a.ts:', '2026-01-02 10:00:', ''),
        cell,
        times,
      ),
      { maxLength: 12 },
    ),
    fc.constantFrom(1, 1, 1, 3, 9),
  )
  .map(([lines, turns]) => {
    const turn = lines.flatMap(([prefix, rest, n]) => Array(n).fill(prefix.repeat(2) + rest))
    return Array(turns).fill(turn.join('\n')).join('\n')
  })

const diffLine = fc
  .tuple(fc.constantFrom(' ', ' ', '+', '-', '\\', ''), cell)
  .map(each => each.join(''))
/** Hunks whose headers fit, mostly. */
const hunk = fc
  .record({
    body: fc.array(diffLine, { maxLength: 6 }),
    start: fc.nat({ max: 40 }),
    shift: fc.constantFrom(0, 0, 0, 1, -1),
    lie: fc.constantFrom(0, 0, 0, 0, 1),
    rest: fc.constantFrom('', ' f()', '\r'),
    one: fc.constantFrom('', ',1'),
  })
  .map(({ body, start, shift, lie, rest, one }) => {
    const count = (sign: string) =>
      body.filter(line => !/^\\/.test(line) && line[0] !== sign).length
    const range = (first: number, n: number) => `${first}${n === 1 ? one : `,${n}`}`
    const before = range(start + shift + (count('+') === 0 ? 0 : 1), count('+') + lie)
    const after = range(start + (count('-') === 0 ? 0 : 1), count('-'))
    return [`@@ -${before} +${after} @@${rest}`, ...body]
  })
const blob = fc.constantFrom('0a1b2c3', 'ffffffff', '1234567', 'xyz')
/** Files of a diff as git writes them, and nearly. */
const diffFile = fc
  .record({
    path: fc.constantFrom('a.ts', 'src/a b.ts', 'x => y', '-x', 'similarity index 1%', 'b'),
    other: fc.constantFrom('a.ts', 'lib/b.ts'),
    ...{ from: blob, to: blob, mode: fc.constantFrom('100644', '100755') },
    kind: fc.constantFrom('changed', 'new', 'deleted', 'renamed', 'moved', 'plain'),
    hunks: fc.array(hunk, { maxLength: 3 }),
    contents: fc.array(cell, { minLength: 1, maxLength: 4 }),
    end: fc.constantFrom(
      [],
      ['\\ No newline at end of file'],
      ['diff a.ts', '1234567..89abcde', '---', '+++'],
    ),
  })
  .map(({ path, other, from, to, mode, kind, hunks, contents, end }) => {
    const tab = path.includes(' ') ? '\t' : ''
    const git = (newer: string = path) => `diff --git a/${path} b/${newer}`
    const range = contents.length === 1 ? '1' : `1,${contents.length}`
    const lines: Record<string, string[]> = {
      plain: [`--- ${path}`, `+++ ${other}`, ...hunks.flat()],
      changed: [
        git(),
        `index ${from}..${to} ${mode}`,
        `--- a/${path}${tab}`,
        `+++ b/${path}${tab}`,
      ].concat(hunks.flat(), end),
      new: [git(), `new file mode ${mode}`, `index ${'0'.repeat(to.length)}..${to}`]
        .concat('--- /dev/null', `+++ b/${path}${tab}`, `@@ -0,0 +${range} @@`)
        .concat(
          contents.map(line => `+${line}`),
          end,
        ),
      deleted: [git(), `deleted file mode ${mode}`, `index ${from}..${'0'.repeat(from.length)}`]
        .concat(`--- a/${path}${tab}`, '+++ /dev/null', `@@ -${range} +0,0 @@`)
        .concat(
          contents.map(line => `-${line}`),
          end,
        ),
      moved: [git(other), 'similarity index 100%', `rename from ${path}`, `rename to ${other}`],
      renamed: [git(other), 'similarity index 87%', `rename from ${path}`, `rename to ${other}`]
        .concat(`index ${from}..${to} ${mode}`, `--- a/${path}${tab}`, `+++ b/${other}`)
        .concat(hunks.flat()),
    }
    return lines[kind]!.join('\n')
  })
const diff = fc
  .array(fc.oneof({ weight: 8, arbitrary: diffFile }, cell), { minLength: 1, maxLength: 4 })
  .map(files => files.join('\n'))

const json = fc.jsonValue({ maxDepth: 3 })
const rows = fc.array(
  fc.record(
    { id: fc.integer(), name: fc.string(), tags: fc.array(cell) },
    { requiredKeys: ['id'] },
  ),
  { minLength: 1, maxLength: 5 },
)
const spaced = fc
  .tuple(fc.oneof(json, rows), fc.constantFrom(undefined, 1, 2, 4, '\t'))
  .map(([value, indent]) => JSON.stringify(value, null, indent))
/** As Python writes it, at least where strings hold neither `":` nor `",`. */
const python = rows.map(value =>
  JSON.stringify(value).replaceAll('":', '": ').replaceAll(',"', ', "'),
)
/** JSON with what hosts put around it. */
const withHead = fc
  .tuple(
    fc.constantFrom('Exit code: 0\nOutput: ', '[exit 0] ', '{', '<stdout>', '\n', 'Output:\n'),
    fc.oneof(spaced, python),
    fc.oneof(fc.constantFrom('', '\n', '</stdout>', '\n\n[exit 0]', '\r\n'), cell),
  )
  .map(parts => parts.join(''))
const ndjson = fc
  .tuple(rows, fc.constantFrom('', '\n', '\r\n'))
  .map(([values, end]) => values.map(value => JSON.stringify(value)).join('\n') + end)

/** Records over several lines, with labels of all kinds and texts that look like more of them. */
const label = fc.constantFrom(
  ...['Author: ', 'Date:   ', 'text: ', 'Name:\t', 'cpu\t\t: ', 'Empty:', 'a b: ', 'x: : '],
  ...['commit ', 'Key : ', 'Key  : ', ' Key: ', '-: ', 'Merge: '],
)
const record = fc
  .record({
    lines: fc.array(fc.tuple(label, fc.oneof(fc.constantFrom('', 'same', 'a\n more', ' '), cell)), {
      maxLength: 4,
    }),
    text: fc.array(
      fc.constantFrom('', '', '    said', '    Key: no', '  two', 'bare', '\ttab', ' '),
      {
        maxLength: 5,
      },
    ),
  })
  .map(({ lines, text }) => [...lines.map(parts => parts.join('')), ...text].join('\n'))
const records = fc
  .record({
    first: fc.constantFrom('commit ', 'Package: ', 'processor\t: ', 'Name:'),
    all: fc.array(fc.tuple(fc.constantFrom('a1', 'b2', '', 'c:3'), record), {
      minLength: 2,
      maxLength: 6,
    }),
    gap: fc.constantFrom('\n', '\n', '\n\n', '\n\n\n'),
    end: fc.constantFrom('', '\n', '\n\n', '\r\n'),
  })
  .map(({ first, all, gap, end }) => {
    return all.map(([name, rest]) => `${first}${name}\n${rest}`).join(gap) + end
  })

const fence = fc
  .tuple(fc.constantFrom('```', '```csv', '```json', '~~~', '````', '```csv lr'), cell)
  .map(([mark, text]) => `${mark}\n${text}\n\`\`\``)

/** Aligned columns, with what a table uses for itself. */
const aligned = fc
  .record({
    rows: fc.array(
      fc.tuple(
        fc.constantFrom('ii', 'ii', 'ii', 'un', '', '|', '*', '""', '=a'),
        fc.stringMatching(/^[a-z]{1,9}(-[0-9]{1,3})?$/),
        fc.nat({ max: 4000 }).map(String),
        fc.oneof(fc.constantFrom('up 2 days', 'up 3 days', 'running'), fc.constant('ok'), cell),
      ),
      { minLength: 4, maxLength: 14 },
    ),
    names: fc.constantFrom(null, null, ['ST', 'NAME', 'SIZE', 'NOTE'], ['', 'a=b', '""', '*']),
    ...{ gap: fc.integer({ min: 1, max: 3 }), width: fc.integer({ min: 3, max: 12 }) },
    ...{ isPadded: fc.boolean(), above: fc.constantFrom([], ['total 12'], ['[2 ]:']) },
  })
  .map(({ rows, names, gap, width, isPadded, above }) => {
    const space = ' '.repeat(gap)
    const lines = (names === null ? rows : [names, ...rows]).map(([a, b, c, d]) => {
      const line = [a!.padEnd(3), b!.padEnd(width), c!.padStart(width), d].join(space)
      return isPadded ? line.padEnd(width * 3) : line
    })
    return [...above, ...lines].join('\n')
  })

const yamlKey = fc.constantFrom(
  ...['name', 'a.b/c', '"8080"', "'x y'", '200', '/v1/{id}', '&a key', '"#"', 'yes'],
  ...['name', 'name', 'kind', 'kind', 'id', 'id', 'x', 'y'],
)
const yamlScalar = fc.oneof(
  fc.constantFrom('a', 'b c', '1', '01', '1.50', 'null', 'true', '"2026-01-02"', "'it''s'", '"a"'),
  fc.constantFrom('~', '', '{}', '[]', '[a, b]', '["a, b", 1]', '{a: 1}', '&x 1', '*x', '!t v'),
  fc.constantFrom('a # said', '|', '|-', '>-', '"torn', "'", '`', '``', '- a', 'x: y', ' a', '#a'),
  cell,
)
/** Lines of YAML at an indentation, mostly well formed. */
const yamlLines = fc.letrec<{ block: string[] }>(tie => ({
  block: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'yaml' },
    fc.array(yamlScalar, { minLength: 1, maxLength: 3 }).map(all => all.map(each => `- ${each}`)),
    fc
      .array(
        fc.tuple(
          fc.oneof(
            { weight: 30, arbitrary: fc.constantFrom([], [], [], [''], ['# said'], ['', '#']) },
            fc.constantFrom(['\t'], ['@x: 1'], ['?'], ['- a'], ['  ']),
          ),
          yamlKey,
          fc.oneof(
            yamlScalar.map(each => ({
              rest: each === '' ? '' : ` ${each}`,
              below: [] as string[],
            })),
            fc
              .tuple(tie('block'), fc.constantFrom(2, 2, 2, 0, 1, 4))
              .map(([lines, by]) => ({ rest: '', below: deeper(lines, by) })),
            fc
              .array(fc.constantFrom('text', '', ' more', '- a: b', '# no'), { maxLength: 4 })
              .map(lines => ({ rest: ' |', below: deeper(lines, 2) })),
          ),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map(all =>
        all.flatMap(([above, key, { rest, below }]) => [...above, `${key}:${rest}`, ...below]),
      ),
    fc
      .array(tie('block'), { minLength: 1, maxLength: 3 })
      .map(items => items.flatMap(lines => [`- ${lines[0] ?? ''}`, ...deeper(lines.slice(1), 2)])),
  ),
})).block
/** YAML as programs and people write it, with its oddities. */
const yamlText = fc
  .record({
    documents: fc.array(yamlLines, { minLength: 1, maxLength: 2 }),
    head: fc.constantFrom('', '', '---\n', '# said\n'),
    end: fc.constantFrom('\n', '\n', '', '\n\n', '\r\n', '\n...\n'),
    copies: fc.constantFrom(1, 1, 3),
  })
  .map(({ documents, head, end, copies }) => {
    const all = documents.flatMap(lines => new Array<string>(copies).fill(lines.join('\n')))
    return head + all.join('\n---\n') + end
  })

const markupCell = fc.oneof(
  fc.constantFrom('a', 'b-1', 'b-2', '12', '', ' x', 'a,b', 'a|b', '{1}', '[3 A]:', '<b>c</b>'),
  cell,
)
/** Rows of one shape as HTML, XML, TOML and lines of fields, with some that are odd. */
const repeated = fc
  .record({
    rows: fc.array(fc.tuple(markupCell, markupCell, fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2)), {
      minLength: 3,
      maxLength: 12,
    }),
    row: fc.constantFrom<(a: string, b: string) => string>(
      (a, b) => `  <tr>\n    <td class="${a}">${a}</td>\n    <td>${b}</td>\n  </tr>\n`,
      (a, b) => `<li id="${b}"><a href="/x/${a}.html">${a}</a></li>`,
      (a, b) => `<i n="${a}"/>\n<j>${b}</j>\n`,
      (a, b) => `[[item]]\nname = "${a}"\nsize = ${b}\n\n`,
      (a, b) => `time=2026-01-02 level=${a} msg="${b}"\n`,
      (a, b) => `[${a}]\nx=${b}\r\n`,
    ),
    start: fc.constantFrom('', '<table>\n', '<ul>', 'a = 1\n', '\n'),
    end: fc.constantFrom('', '</table>\n', '</ul>', '\n', '<a></a></b><c/><c/><c/>'),
    odd: fc.constantFrom('<p>text</p>\n', '\n', 'x', '[2 B]:\n'),
    times: fc.constantFrom(1, 1, 2),
  })
  .map(({ rows, row, start, end, odd, times }) => {
    const all = rows.map(([a, b, kind]) => (kind === 0 ? row(a, b) : kind === 1 ? odd : row(b, '')))
    return start + all.join('').repeat(times) + end
  })

/** What programs print for terminals. */
const forTerminal = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.constantFrom('\u001b[0m', '\u001b[32m', '\u001b[01;34m', '\u001b[m\u001b[K', '\u001b['),
        fc.constantFrom('\r', '\r', '\r\n', '\n', '\n', '←', '\n←', '§', '¤', '\u001b]0;t\u0007'),
        fc.constantFrom('src/a/', 'src/a/', ' 12% |##', ' 13% |##', '[3 ]:'),
        word,
      ),
      { minLength: 4, maxLength: 40 },
    ),
    fc.constantFrom(1, 2, 4),
  )
  .map(([pieces, times]) => pieces.join('').repeat(times))

function deeper(lines: readonly string[], by: number): string[] {
  return lines.map(line => (line === '' ? '' : ' '.repeat(by) + line))
}

/** Lines of a few statements in any order, with what their format uses for itself. */
const statements = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        '12:00:# INFO worker took # ms of @',
        'WARN [#] no answer  from 10.1.@ after #',
        '#\tA {1} of the disk @ is full\r',
        '@ # @ #',
        'Traceback: @',
        '| # of the table',
      ),
      fc.array(fc.nat({ max: 99 }), { minLength: 2, maxLength: 2 }),
      fc.oneof(fc.constantFrom('A', 'B', 'a,b', '', ' ', '  ', '{1}', 'x|y'), cell),
    ),
    { minLength: 4, maxLength: 16 },
  )
  .map(rows =>
    rows.map(([line, numbers, text]) => {
      const filled = numbers.reduce((all: string, number) => all.replace('#', `${number}`), line)
      return filled.replaceAll('@', () => text)
    }),
  )
  .chain(lines => fc.constantFrom('\n', '\n', '\n\n').map(glue => lines.join(glue)))

const mixed = fc
  .array(
    fc.oneof(
      table,
      neat,
      gutters,
      gutters,
      aligned,
      paths,
      diff,
      spaced,
      python,
      ndjson,
      records,
      statements,
      fence,
      cell,
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .chain(parts => fc.constantFrom('\n', '\n\n', '').map(glue => parts.join(glue)))

/** Texts as tools give them, and as somebody would forge them. */
export const arbitraryToolText = fc.oneof(
  { weight: 9, arbitrary: mixed },
  neat,
  ndjson,
  records,
  statements,
  diff,
  aligned,
  withHead,
  { weight: 3, arbitrary: yamlText },
  { weight: 3, arbitrary: repeated },
  { weight: 2, arbitrary: forTerminal },
)
