import { type Lie, recount, replace, rewrite } from './lie.ts'

/** What is missing. */
export const LIES_OF_MARKERS: readonly Lie[] = [
  [
    'another hash',
    'log',
    ({ log }) => rewrite(log, /hash=\w{8}/, 'hash=00000000'),
    'elision',
    /not that of the original/,
  ],
  [
    'a hash with another last digit',
    'log',
    ({ log }) =>
      rewrite(log, /hash=\w{24}/, part => part.slice(0, -1) + (part.endsWith('0') ? '1' : '0')),
    'elision',
    /not that of the original/,
  ],
  [
    'a hash with other digits after the eighth',
    'log',
    ({ log }) => rewrite(log, /hash=\w{24}/, part => part.slice(0, 13) + '0'.repeat(16)),
    'elision',
    /not that of the original/,
  ],
  [
    'another hash in the list',
    'log',
    ({ log }) => {
      log.answer.elided = [{ ...log.answer.elided[0]!, hash: '0'.repeat(24) }]
    },
    'elision',
    /lists another hash/,
  ],
  [
    'another count in the list',
    'log',
    ({ log }) => {
      recount(log, 1)
    },
    'elision',
    /counts other parts/,
  ],
  [
    'fewer lines than are missing',
    'log',
    ({ log }) => {
      rewrite(log, 'lines 70-90', 'lines 71-90')
      recount(log, 20)
    },
    'elision',
    /other lines are missing/,
  ],
  [
    'lines of another text',
    'log',
    ({ log }) => rewrite(log, 'of 90', 'of 91'),
    'elision',
    /other lines are missing/,
  ],
  [
    'a line that the original has not',
    'log',
    ({ log }) => replace(log, 'event', 'EVENT'),
    'elision',
    /no part of the original/,
  ],
  [
    'a gap that is not marked',
    'log',
    ({ log }) => replace(log, /\n[^\n]*(?=\n\[…)/, ''),
    'elision',
    /no part of the original/,
  ],
  [
    'items at another place',
    'items',
    ({ items }) => rewrite(items, /\[\d+:\d+\]/, run => run.replace(/\d+/g, end => `${+end - 1}`)),
    'elision',
    /not so many items are missing at/,
  ],
  [
    'another next chunk',
    'items',
    ({ items }) => rewrite(items, /chunk 2/, 'chunk 3'),
    'elision',
    /lists other chunks/,
  ],
  [
    'a next chunk of more',
    'items',
    ({ items }) => rewrite(items, /(?<=next: chunk 2 of )\d+/, '99'),
    'elision',
    /lists other chunks/,
  ],
  [
    'a next chunk where there are none',
    'fields',
    ({ fields }) => rewrite(fields, ' | hash=', ' | next: chunk 2 of 2 | hash='),
    'elision',
    /lists other chunks/,
  ],
  [
    'items of a longer list',
    'items',
    ({ items }) => rewrite(items, ' of 90 ', ' of 91 '),
    'elision',
    /not so many items are missing at/,
  ],
  [
    'fewer items than are missing',
    'items',
    ({ items }) => {
      rewrite(items, /\d+ of 90 items at [^ ]+/, '3 of 90 items at $.names[87:90]')
      recount(items, 3)
    },
    'elision',
    /not 3 items are missing/,
  ],
  [
    'fewer fields than are missing',
    'list',
    ({ list }) => {
      rewrite(list, /\d+ fields/, '9 fields')
      recount(list, 9)
    },
    'elision',
    /not (?:9|so many) fields are missing/,
  ],
  [
    'fields at another place',
    'list',
    ({ list }) => rewrite(list, '[:].created_at', '[:].id'),
    'elision',
    /not so many fields are missing at/,
  ],
  [
    'an item that the original has not',
    'list',
    ({ list }) => replace(list, '\n1,17\n', '\n1,18\n'),
    'elision',
    /no part of the original/,
  ],
  [
    'a text that is cut elsewhere than its mark says',
    'fields',
    ({ fields }) => replace(fields, /\[\+(\d)/, '[+9$1'),
    'elision',
    /no part of the original/,
  ],
  [
    'a marker before the content',
    'fields',
    ({ fields }) => {
      const [body, marker] = fields.answer.content.split(/\n(?=> \[)/)
      fields.answer.content = `${marker}\n${body}`
    },
    'elision',
    /does not stand behind/,
  ],
  [
    'what is left in another format',
    'fields',
    ({ fields }) => {
      fields.answer.format = 'trimmed@1;csv@1'
    },
    'elision',
    /what is left/,
  ],
  [
    'parts that are missing without a marker',
    'log',
    ({ log }) => {
      log.answer.hints = []
    },
    'answer',
    /number of markers is 1, not 0/,
  ],
  [
    'an error that was cut',
    'log',
    ({ log }) => {
      log.request.is_error = true
    },
    'answer',
    /must stay whole/,
  ],
  [
    'parts that had to stay',
    'log',
    ({ log }) => {
      log.request.mode = 'lossless'
    },
    'answer',
    /must stay whole/,
  ],
]
