/** One table for all text notations: a text, and what a notation writes for it. */
export interface TextCase {
  readonly text: string
  /** Name, and the style where there is one: `numbered;arrow`. */
  readonly format: string
  /** `null`: the notation declines. */
  readonly content: string | null
}

const lines = (...all: string[]): string => all.join('\n')

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
]
