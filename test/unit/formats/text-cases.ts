/** One table for all text notations: a text, and what a notation writes for it. */
export interface TextCase {
  readonly text: string
  /** Name, and the style where there is one: `numbered;arrow`. */
  readonly format: string
  /** `null`: the notation declines. */
  readonly content: string | null
}

const lines = (...all: string[]): string => all.join('\n')

const PATHS = ['c', 'd', 'e', 'f'].map(name => `/usr/lib/node/${name}`)

export const TEXT_CASES: Readonly<Record<string, TextCase>> = {
  'a numbered read': {
    format: 'numbered;arrow',
    text: lines('     3→a', '     4→', '     5→\tb', '     6→c'),
    content: lines('     3→a', '', '5→\tb', 'c'),
  },
  'a numbered read with tabs and without padding': {
    format: 'numbered;tab',
    text: lines('9\ta', '10\tb', '11\tc', ''),
    content: lines('9\ta', '10\tb', 'c', '→', ''),
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
      '→',
      '',
      'File y:',
      ' 1→d',
      '→',
      ' 7→e',
      '→',
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
    content: '1→a\r\n\r\nb\r\n→\n',
  },
  'a numbered line that would end the block': {
    format: 'numbered;arrow',
    text: lines('1→a', '2→→', '3→b'),
    content: null,
  },
  'the same on a line that keeps its number': {
    format: 'numbered;arrow',
    text: lines('4→a', '5→→', '6→b'),
    content: lines('4→a', '5→→', 'b'),
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
  'too few numbered lines': { format: 'numbered;arrow', text: '1→a\n2→b', content: null },
}

/** Texts that a notation did not write, with the line that its error names. */
export const UNDECODABLE_TEXTS: readonly (readonly [
  format: string,
  content: string,
  line: number,
])[] = [
  ['numbered@1', '1→a', 1],
  ['numbered@1;dots', '1.a', 1],
  ['numbered@1;arrow', '3→a\nb\nc', 3],
  ['numbered@1;arrow', '3→a\nb\n6→c', 3],
  ['prefixed@1', 'a/…\nb', 1],
  ['prefixed@1;dots', '…\nb', 1],
  ['prefixed@1;dots', 'a\nb/…', 2],
  ['prefixed@1;dots', 'b/…\n\nc', 2],
  ['prefixed@1;dots', 'b/…\n×2', 2],
  ['prefixed@1;dots', '×2\nb', 1],
]
