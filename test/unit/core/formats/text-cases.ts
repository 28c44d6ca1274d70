/** One table for all text formats: a text, and what a format writes for it. */
export interface TextCase {
  readonly text: string
  /** Name, and the style where there is one: `numbered;arrow`. */
  readonly format: string
  /** `null`: the format declines. */
  readonly content: string | null
}

const lines = (...all: string[]): string => all.join('\n')

/** Lines that take turns twice, and then others of the same lengths. */
const TWICE = [
  ...['a retry in one second', 'the host has no answer'],
  ...['a retry in one second', 'the host has no answer'],
  ...['a retry in two months', 'the host has one reply'],
]
const PATHS = ['c', 'd', 'e', 'f'].map(name => `/usr/lib/node/${name}`)

export const TEXT_CASES: Readonly<Record<string, TextCase>> = {
  'lines of two statements in any order, and others': {
    format: 'templated',
    text: lines(
      '12:00:01 INFO worker[7]: took 31 ms for job blue of shop',
      '12:00:02 INFO worker[9]: took 5 ms for job red of shop',
      '12:00:02 WARN no answer from 10.1.2.3 after 3 tries, waiting',
      '',
      'Traceback (most recent call last):',
      '12:00:07 INFO worker[9]: took 112 ms for job A of shop',
      '12:00:08 WARN no answer from 10.1.2.9 after 4 tries, waiting',
      '[… lines 8-11]',
      '12:00:09 WARN no answer from 10.1.4.1 after 5 tries, waiting',
      '',
    ),
    content: lines(
      'A: {1} INFO worker[{2}]: took {3} ms for job {4} of shop',
      'B: {1} WARN no answer from {2} after {3} tries, waiting',
      'C: {1}',
      '',
      'A',
      '12:00:01 7 31 blue',
      '12:00:02 9 5 red',
      'B',
      '12:00:02 10.1.2.3 3',
      '',
      'C',
      'Traceback (most recent call last):',
      'A',
      '12:00:07 9 112 A',
      'B',
      '12:00:08 10.1.2.9 4',
      'C',
      '[… lines 8-11]',
      'B',
      '12:00:09 10.1.4.1 5',
      '',
    ),
  },
  'lines of one statement, whose values have spaces, and lines that are like names': {
    format: 'templated',
    text: ['A', 'B', 'a']
      .map((drive, i) => `drive ${drive} of host ${i} is ${' '.repeat(i)}full again`)
      .concat(
        ['a1', 'b2', 'c3'].map(id => `the backup of the database ${id}\r`),
        'B',
        'B 1',
      )
      .join('\n'),
    content: lines(
      'A,: drive {1} of host {2} is {3} again',
      'C: the backup of the database {1}\r',
      'D: {1}',
      '',
      'A',
      'A,0,full',
      'B,1, full',
      'a,2,  full',
      'C',
      'a1',
      'b2',
      'c3',
      'D',
      'B',
      'B 1',
    ),
  },
  'lines with a brace and a digit like those of a template': {
    format: 'templated',
    text: ['a1', 'b2', 'c3']
      .map(id => `the backup of the database {1} on the host ${id}`)
      .join('\n'),
    content: null,
  },
  'lines of files with their numbers, rows of a table and hunks': {
    format: 'templated',
    text: lines(
      ...['12', '14', '16'].map(no => `${no}:\tthe backup of the database, step ${no}`),
      ...['12', '14', '16'].map(no => `src/a.ts:${no}:  the backup of the database, step ${no}`),
      ...['12', '14', '16'].map(no => `| the backup of the database, step ${no}`),
    ),
    content: null,
  },
  'lines of a hunk, which are read and applied as they are': {
    format: 'templated',
    text: lines(
      '@@ -1,6 +1,6 @@',
      ...['11', '12', '13', '14', '15', '16'].map(no => ` the backup of the database, step ${no}`),
    ),
    content: null,
  },
  'lines of one value, of which one has none': {
    format: 'templated',
    text: ['', '1', '2', '3', '4', '5']
      .map(no => `the backup of the database, step #${no}`)
      .join('\n'),
    content: null,
  },
  'colours, with a sign for each kind of sequence that comes often': {
    format: 'terminal',
    text: ['src', 'test', 'docs', 'bench', '§']
      .map(name => `\u001b[38;5;208m${name}\u001b[0m\u001b[K\n`)
      .concat('\u001b[7mend\u001b[0m\u001b[K')
      .join(''),
    content: lines(
      '¤=[38;5;208m ¶=[0m[K',
      '¤src¶',
      '¤test¶',
      '¤docs¶',
      '¤bench¶',
      '¤§¶',
      '\u001b[7mend¶',
    ),
  },
  'a progress bar in a format of its own': {
    format: 'terminal;prefixed@1,dots',
    text: `get\r\n${[12, 37, 61, 88].map(part => `\rDownloading archive: ${part}%`).join('')}\nDone`,
    content: lines(
      '←=\\r',
      'get\r',
      '',
      '←Downloading archive: …',
      '12%',
      '37%',
      '61%',
      '88%',
      '',
      'Done',
    ),
  },
  'a numbered read': {
    format: 'numbered;arrow',
    text: lines('     3→a', '     4→', '     5→\tb', '     6→c'),
    content: lines('     3→a', '', '5→\tb', 'c'),
  },
  'a numbered read with tabs and without padding': {
    format: 'numbered;tab',
    text: lines('9\ta', '10\tb', '11\tc', ''),
    content: lines('9\ta', '10\tb', 'c', '→ end', ''),
  },
  'numbers that are not aligned': {
    format: 'numbered;arrow',
    text: lines(' 1→a', ' 2→b', ' 3→c', '4→d', '5→e', ' 6→f', '007→g', '8→h'),
    content: lines(' 1→a', 'b', 'c', '→ end', '4→d', '5→e', '→ end', ' 6→f', '→ end', '007→g', 'h'),
  },
  'a numbered read with colons': {
    format: 'numbered;colon',
    text: lines('[File: x]', '1455:a', '1456:', '1457:b: c', '(more)'),
    content: lines('[File: x]', '1455:a', '', 'b: c', '→ end', '(more)'),
  },
  'numbers that outgrow their width': {
    format: 'numbered;arrow',
    text: lines(' 98→a', ' 99→b', '100→c', '101→d', '102→e'),
    content: lines(' 98→a', 'b', '100→c', 'd', 'e'),
  },
  'text around numbered lines, and a second block': {
    format: 'numbered;arrow',
    text: lines('File x:', ' 1→a', ' 2→b', ' 3→c', '', 'File y:', ' 1→d', ' 7→e', '7→f'),
    content: lines(
      'File x:',
      ' 1→a',
      'b',
      'c',
      '→ end',
      '',
      'File y:',
      ' 1→d',
      '→ end',
      ' 7→e',
      '→ end',
      '7→f',
    ),
  },
  'numbered lines that look like numbered lines inside': {
    format: 'numbered;arrow',
    text: lines('1→7→x', '2→3→', '3→ 5→', '4→5→y', '5→5→z'),
    content: lines('1→7→x', '3→', ' 5→', '5→y', '5→5→z'),
  },
  'CRLF in a numbered read': {
    format: 'numbered;arrow',
    text: '1→a\r\n2→\r\n3→b\r\n',
    content: '1→a\r\n\r\nb\r\n→ end\n',
  },
  'a numbered line that would end the block': {
    format: 'numbered;arrow',
    text: lines('1→a', '2→→ end', '3→b'),
    content: null,
  },
  'the same on a line that keeps its number': {
    format: 'numbered;arrow',
    text: lines('4→a', '5→→ end', '6→b'),
    content: lines('4→a', '5→→ end', 'b'),
  },
  'numbers with leading zeros, or too long': {
    format: 'numbered;arrow',
    text: lines('01→a', '02→b', '03→c', `${' '.repeat(12)}4→d`, '1234567890123→e'),
    content: null,
  },
  'search results of two files': {
    format: 'prefixed;dots',
    text: lines(
      'src/core/shape/a.ts:12:const a = 1',
      'src/core/shape/a.ts:40:return a',
      'src/core/shape/a.ts:41:}',
      'src/core/shape/deep/b.ts:7:import a',
      'src/core/shape/deep/b.ts:9:import b',
      'src/core/shape/deep/b.ts:10:',
      'done, nothing else',
    ),
    content: lines(
      'src/core/shape/a.ts:…',
      '12:const a = 1',
      '40:return a',
      '41:}',
      '',
      'src/core/shape/deep/b.ts:…',
      '7:import a',
      '9:import b',
      '10:',
      '',
      'done, nothing else',
    ),
  },
  'a name that some lines follow with another separator': {
    format: 'prefixed;dots',
    text: lines('src/core/shape/a.ts:12:x', 'src/core/shape/a.ts-13-y', 'src/core/shape/a.ts-14-z'),
    content: lines('src/core/shape/a.ts…', ':12:x', '-13-y', '-14-z'),
  },
  'a line that is all prefix': {
    format: 'prefixed;dots',
    text: lines('/usr/lib/node/', '/usr/lib/node/', '/usr/lib/node/a', '/usr/lib/node/b', ...PATHS),
    content: lines('/usr/lib/node…', '/', '×2', '/a', '/b', '/c', '/d', '/e', '/f'),
  },
  'a text whose lines end like a heading': {
    format: 'prefixed;star',
    text: lines('Building…', '', ...PATHS, ''),
    content: lines('Building…', '', '/usr/lib/node/*', 'c', 'd', 'e', 'f', '', ''),
  },
  'a text whose lines end like both kinds of headings': {
    format: 'prefixed;dots',
    text: lines('Building…', '/* *', ...PATHS, ...PATHS),
    content: null,
  },
  'a line that stands there many times': {
    format: 'prefixed;dots',
    text: lines(...Array(40).fill('retry in one second'), '', '', 'short', 'short', ''),
    content: lines('retry in one second', '×40', '', '', 'short', 'short', ''),
  },
  'short lines that stand there many times, a few times, and blank ones': {
    format: 'prefixed;dots',
    text: lines(
      ...['suite', ...Array(60).fill('ok'), ...Array(7).fill('.'), ...Array(9).fill(' ')],
      ...[...PATHS, ...Array(8).fill('boom')],
    ),
    content: lines(
      ...['suite', 'ok', '×60', ...Array(7).fill('.'), ...Array(9).fill(' ')],
      ...['/usr/lib/node/…', 'c', 'd', 'e', 'f', '', 'boom', '×8'],
    ),
  },
  'lines that take turns, to the end of the text': {
    format: 'prefixed;dots-blocks',
    text: lines('go', ...Array(40).fill(lines('retry in one second', 'no answer', ''))),
    content: lines('go', 'retry in one second', 'no answer', '', '×40 (3 lines)'),
  },
  'lines that take turns, with part of a turn at both ends': {
    format: 'prefixed;dots-blocks',
    text: lines('b', ...Array(40).fill(lines('a', 'b', 'a', 'c')), 'a', 'b', 'x'),
    content: lines('b', 'a', 'b', 'a', 'c', '×40 (4 lines)', 'a', 'b', 'x'),
  },
  'eight lines that take turns, and nine': {
    format: 'prefixed;dots-blocks',
    text: lines(...Array(9).fill(lines(...'abcdefgh')), ...Array(9).fill(lines(...'zyxwvutsr'))),
    content: lines(...'abcdefgh', '×9 (8 lines)', ...Array(9).fill(lines(...'zyxwvutsr'))),
  },
  'lines that take turns twice, or with few characters': {
    format: 'prefixed;dots',
    text: lines(...[...TWICE, ...Array(9).fill(lines('a', 'b'))], ...[...PATHS, ...PATHS]),
    content: lines(
      ...[...TWICE, ...Array(9).fill(lines('a', 'b'))],
      ...['/usr/lib/node/…', ...'cdefcdef'],
    ),
  },
  'a short line counted among lines that take turns': {
    format: 'prefixed;dots',
    text: lines(...Array(3).fill(lines('x', ...Array(20).fill('ok')))),
    content: lines(...Array(3).fill(lines('x', 'ok', '×20'))),
  },
  'lines that take turns, after the sign of a count': {
    format: 'prefixed;dots-blocks',
    text: lines('×', '4 × 5', ...Array(40).fill(lines('retry in one second', 'no answer'))),
    content: lines('×', '4 × 5', 'retry in one second', 'no answer', '×40 (2 lines)'),
  },
  'lines with a heading that take turns': {
    format: 'prefixed;dots-blocks',
    text: lines('x', ...Array(30).fill(lines(...PATHS)), ''),
    content: lines('x', '/usr/lib/node/…', ...'cdef', '', '×30 (4 lines)', ''),
  },
  'a line counted among lines that take turns': {
    format: 'prefixed;dots-blocks',
    text: lines(...Array(30).fill(lines('the same line', 'the same line', 'done')), 'end'),
    content: lines('the same line', '×2', 'done', '×30 (3 lines)', 'end'),
  },
  'lines that take turns, with one that looks like their count': {
    format: 'prefixed;dots-blocks',
    text: lines(...Array(40).fill(lines('retry in one second', 'no answer')), '×3 (2 lines)'),
    content: null,
  },
  'a line that looks like the count of several': {
    format: 'prefixed;dots',
    text: lines(...Array(40).fill('retry in one second'), '×3 (2 lines)'),
    content: null,
  },
  'lines of hunks that take turns': {
    format: 'prefixed;dots',
    text: lines('@@ -1,80 +0,0 @@', ...Array(40).fill(lines('-a', '-b')), ...PATHS, ...PATHS),
    content: lines(
      '@@ -1,80 +0,0 @@',
      ...Array(40).fill(lines('-a', '-b')),
      ...['/usr/lib/node/…', ...'cdefcdef'],
    ),
  },
  'rows of a table that are equal': {
    format: 'prefixed;dots',
    text: lines(...Array(40).fill('| ok |'), ...PATHS, ...PATHS),
    content: lines(...Array(40).fill('| ok |'), ...['/usr/lib/node/…', ...'cdefcdef']),
  },
  'a short line that looks like a count, many times': {
    format: 'prefixed;dots',
    text: lines(...Array(40).fill('×3'), ...PATHS, ...PATHS),
    content: null,
  },
  'a line that looks like a count': {
    format: 'prefixed;dots',
    text: lines(...Array(40).fill('retry in one second'), '×3'),
    content: null,
  },
  'a line that looks like a count without its prefix': {
    format: 'prefixed;dots',
    text: lines(...PATHS, ...PATHS, '/usr/lib/node/×3'),
    content: null,
  },
  'lines of a hunk, which keep their first characters': {
    format: 'prefixed;dots',
    text: lines('@@ -1,4 +0,0 @@', ...PATHS.map(path => `-${path}`), ...PATHS, ''),
    content: lines(
      '@@ -1,4 +0,0 @@',
      ...PATHS.map(path => `-${path}`),
      '/usr/lib/node/…',
      ...['c', 'd', 'e', 'f', '', ''],
    ),
  },
  'a table between other text': {
    format: 'md;s-s-3',
    text: lines('# T', '', '| a | b |', '| --- | --- |', '| 1, 2 | "x" |', '|  | y |', '', 'end'),
    content: lines('# T', '', '```csv', 'a,b', '"1, 2","""x"""', ',y', '```', '', 'end'),
  },
  'tables of different layouts, one of a single column': {
    format: 'md;t-t-3,a-s-c,a-t-c,p-s-c,s-t-h,n-s-4_7,s-s-3',
    text: lines(
      ...['|a|b|', '|---|---|', '||1|'],
      ...['', '| a    | b   |', '| ---- | --- |', '| long | x   |'],
      ...['', '| a    | b   |', '|------|-----|', '| long | x   |'],
      ...['', '|    n |  m  |', '| ---: | :-: |', '| 1000 |  x  |'],
      ...['', '| name | of |', '|------|----|', '| x | y |'],
      ...['', '| a | b |', '| ---- | ------- |', '| | y |'],
      ...['', '| a |', '| --- |', '| ```b |'],
    ),
    content: lines(
      ...['```csv', 'a,b', ',1', '```'],
      ...['', '```csv', 'a,b', 'long,x', '```'],
      ...['', '```csv', 'a,b', 'long,x', '```'],
      ...['', '```csv rc', 'n,m', '1000,x', '```'],
      ...['', '```csv', 'name,of', 'x,y', '```'],
      ...['', '```csv', 'a,b', ',y', '```'],
      ...['', '```csv', 'a', '"```b"', '```'],
    ),
  },
  'ragged rows, extra cells and escaped pipes': {
    format: 'md;s-t-3',
    text: lines('| a \\| b | c |', '|---|---|', '| 1 |', '| 1 | 2 | 3 |', '| x\\\\ | \\| |', 'end'),
    content: lines('```csv', 'a | b,c', '1', '1,2,3', 'x\\\\,|', '```', 'end'),
  },
  'a table in a list, with CRLF': {
    format: 'md;s-t-3',
    text: '- x\r\n  | a | b |\r\n  |---|:--|\r\n  | 1 | 2 |\r\n- y',
    content: '- x\r\n  ```csv -l\r\na,b\r\n1,2\r\n```\r\n- y',
  },
  'a table whose last line ends otherwise': {
    format: 'md;s-t-3',
    text: '| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n| 3 | 4 |',
    content: '```csv\r\na,b\r\n1,2\r\n```\r\n| 3 | 4 |',
  },
  'a column in the middle, with a space more on the right': {
    format: 'md;p-s-h',
    text: lines('| name |', '| :--: |', '|  x   |', '|  yz  |'),
    content: lines('```csv c', 'name', 'x', 'yz', '```'),
  },
  'right-to-left text, NUL and tabs in cells': {
    format: 'md;s-t-3',
    text: lines('| \u05d0\u05d1 | \u0000 |', '|---|---|', '| a\tb | \u{1f600} |'),
    content: lines('```csv', '\u05d0\u05d1,\u0000', 'a\tb,\u{1f600}', '```'),
  },
  'tables that are none, or of no layout': {
    format: 'md;s-t-3',
    text: lines(
      ...['```', '| a | b |', '|---|---|', '```', '| a | b |', '|---|'],
      ...['', '| a | b |', '|---|---|', '| 1 |2|', '', '| a |', '|---|', '|'],
    ),
    content: null,
  },
  'a text that has such fences itself': {
    format: 'md;s-t-3',
    text: lines('| a | b |', '|---|---|', '| 1 | 2 |', '', '```csv', 'a,b', '```'),
    content: null,
  },
  'an object a line': {
    format: 'ndjson;ended_compact,csv@1',
    text: lines('{"id":1,"v":1.0}', '{"id":2,"v":-0}', ''),
    content: lines('id,v', '1,1.0', '2,-0'),
  },
  'an object a line as Python writes it, escapes included': {
    format: 'ndjson;python-ascii,csv@1',
    text: lines('{"id": 1, "v": "a"}', '{"id": 2, "v": "\\u00e9"}'),
    content: lines('id,v', '1,a', '2,é'),
  },
  'lines that were written by different programs': {
    format: 'ndjson;compact,csv@1',
    text: lines('{"id":1}', '{"id": 2}'),
    content: null,
  },
  'lines with one that is no object': {
    format: 'ndjson;compact,csv@1',
    text: lines('{"id":1}', '{"id":2}', '[3]'),
    content: null,
  },
  'lines behind a hunk of all kinds of lines': {
    format: 'prefixed;dots',
    text: lines('@@ -1,2 +1,3 @@ f', ' a', '-b', '\\ No newline', '+c', '+d', ...PATHS),
    content: lines(
      ...['@@ -1,2 +1,3 @@ f', ' a', '-b', '\\ No newline', '+c', '+d'],
      ...['/usr/lib/node/…', 'c', 'd', 'e', 'f'],
    ),
  },
  'rows of a table, which stay rows': {
    format: 'prefixed;dots',
    text: lines('| Ann Lee of the north |', '| Ann Lee of the south |', '| Ann Lee of the east |'),
    content: null,
  },
  'a changed file of git, whose second hunk follows from the first': {
    format: 'diff',
    text: lines(
      ...['diff --git a/src/a.ts b/src/a.ts', 'index 7c1e7ca..e38a6dd 100644'],
      ...['--- a/src/a.ts', '+++ b/src/a.ts'],
      ...['@@ -6,2 +6,3 @@ f()', ' a', '+b', ' c'],
      ...['@@ -20,2 +21 @@', ' d', '-e', '\\ No newline at end of file'],
    ),
    content: lines(
      ...['diff src/a.ts', '7c1e7ca..e38a6dd', '---', '+++'],
      ...['@@ 6 @@ f()', ' a', '+b', ' c'],
      ...['@@ 21 @@', ' d', '-e', '\\ No newline at end of file'],
    ),
  },
  'a new file and a deleted one': {
    format: 'diff',
    text: lines(
      ...['diff --git a/n.sh b/n.sh', 'new file mode 100755', 'index 0000000..8e1f2a3'],
      ...['--- /dev/null', '+++ b/n.sh', '@@ -0,0 +1,2 @@', '+#!/bin/sh', '+true'],
      ...['diff --git a/o b/o', 'deleted file mode 100644', 'index 8e1f2a3..0000000'],
      ...['--- a/o', '+++ /dev/null', '@@ -1 +0,0 @@', '-x'],
    ),
    content: lines(
      ...['diff n.sh', 'new file 100755', '8e1f2a3', '---', '+++', '@@ +2 @@', '#!/bin/sh', 'true'],
      ...['diff o', 'deleted file', '8e1f2a3', '---', '+++', '@@ -1 @@', 'x'],
    ),
  },
  'a file that was renamed and changed': {
    format: 'diff',
    text: lines(
      ...['diff --git a/a b.ts b/c.ts', 'similarity index 90%'],
      ...['rename from a b.ts', 'rename to c.ts', 'index 7c1e7ca..e38a6dd 100644'],
      ...['--- a/a b.ts\t', '+++ b/c.ts', '@@ -1 +1 @@', '-x', '+y'],
    ),
    content: lines(
      ...['diff a b.ts => c.ts', 'similarity index 90%', 'rename from', 'rename to'],
      ...['7c1e7ca..e38a6dd', '---', '+++', '@@ 1 @@', '-x', '+y'],
    ),
  },
  'a hunk that does not follow, one with a count that diff programs leave out, a cut one': {
    format: 'diff',
    text: lines(
      ...['--- a', '+++ b', '@@ -1,2 +9,2 @@', ' a', ' b'],
      ...['@@ -5,1 +13,2 @@', ' a', '+b', '@@ -6,9 +15,9 @@ g', ' a'],
    ),
    content: lines(
      ...['--- a', '+++ b', '@@ -1 +9 @@', ' a', ' b'],
      ...['@@ -5,1 +13,2 @@', ' a', '+b', '@@ -6,9 +15,9 @@ g', ' a'],
    ),
  },
  'a hunk of one line by its header, and of two by its lines': {
    format: 'diff',
    text: lines('@@ -1,2 +1,2 @@', ' a', ' b', 'x', '@@ -1 +1 @@', ' a', ' b'),
    content: null,
  },
  'a text with a line that reads like a heading': {
    format: 'diff',
    text: lines('diff a.ts', '@@ -1,2 +1,2 @@', ' a', ' b'),
    content: null,
  },
  'too few numbered lines': { format: 'numbered;arrow', text: '1→a\n2→b', content: null },
}

/** Texts that a format did not write, with the line that its error names. */
export const UNDECODABLE_TEXTS: readonly (readonly [
  format: string,
  content: string,
  line: number,
])[] = [
  ['numbered@1', '1→a', 1],
  ['numbered@1;dots', '1.a', 1],
  ['numbered@1;arrow', '3→a\nb\nc', 3],
  ['numbered@1;arrow', '3→a\nb\n6→c', 3],
  ['diff@1', 'diff a\nnew file\n1234567\n---\n+++\n@@ +3 @@\nb', 7],
  ['prefixed@1', 'a/…\nb', 1],
  ['prefixed@1;dots', '…\nb', 1],
  ['prefixed@1;dots', 'a\nb/…', 2],
  ['prefixed@1;dots', 'b/…\n\nc', 2],
  ['prefixed@1;dots', 'b/…\n×2', 2],
  ['prefixed@1;dots', '×2\nb', 1],
  ['prefixed@1;dots-blocks', 'a\n×9 (2 lines)', 2],
  ['prefixed@1;star-blocks', 'a\nb*\n×9 (2 lines)', 3],
  ['prefixed@1;blocks', 'a\nb', 1],
  ['prefixed@1;-blocks', 'a\nb', 1],
  ['templated@1;x', 'a', 1],
  ['templated@1', 'a', 1],
  ['templated@1', 'A: {1}', 1],
  ['templated@1', 'A: no place\n\nA\nb', 1],
  ['templated@1', 'A: {1}\nA: {1}\n\nA\nb', 2],
  ['templated@1', 'A: {1}\n\nb', 3],
  ['templated@1', 'A: {1} {2}\n\nA\nb', 4],
  ['templated@1', 'A: {1}\nB: {1} {2}\n\nA\nb\nB\nc d\nc d e', 8],
  ['md@1', '```csv\na\n```', 1],
  ['md@1;s-s-3', 'a\n```csv\n```', 2],
  ['md@1;s-s-3', 'a\n```csv\na\n1', 2],
  ['md@1;s-s-3', '```csv\n"a\n```', 1],
  ['md@1;s-s-3', '```csv r\na,b\n```', 1],
  ['md@1;s-s-3_4', '```csv\na\n```', 1],
  ['md@1;s-s-3,s-s-3', '```csv\na\n```\n'.repeat(3), 7],
  ['ndjson@1', '[]', 1],
  ['ndjson@1;compact,xml@1', '[]', 1],
  ['ndjson@1;compact,json_compact@1', '{}', 1],
  ['ndjson@1;compact,csv@1', 'a\n1\n', 3],
  ['terminal@1', 'a', 1],
  ['terminal@1', '§=[0m b=[1m\na', 1],
  ['terminal@1', '§=0m\na', 1],
  ['terminal@1;other@1', '§=[0m\na', 1],
]
