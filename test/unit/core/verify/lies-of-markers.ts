import { type Lie, lie, recount, replace, rewrite } from './lie.ts'

/** What is missing. */
export const LIES_OF_MARKERS: readonly Lie[] = [
  lie('another hash', 'log', 'elision', /not that of the original/, line =>
    rewrite(line, /hash=\w{8}/, 'hash=00000000'),
  ),
  lie('a hash with another last digit', 'log', 'elision', /not that of the original/, line =>
    rewrite(line, /hash=\w{24}/, part => part.slice(0, -1) + (part.endsWith('0') ? '1' : '0')),
  ),
  lie(
    'a hash with other digits after the eighth',
    'log',
    'elision',
    /not that of the original/,
    line => rewrite(line, /hash=\w{24}/, part => part.slice(0, 13) + '0'.repeat(16)),
  ),
  lie('another hash in the list', 'log', 'elision', /lists another hash/, line => {
    line.answer.elided = [{ ...line.answer.elided[0]!, hash: '0'.repeat(24) }]
  }),
  lie('another count in the list', 'log', 'elision', /counts other parts/, line => {
    recount(line, 1)
  }),
  lie('fewer lines than are missing', 'log', 'elision', /other lines are missing/, line => {
    rewrite(line, 'lines 70-90', 'lines 71-90')
    recount(line, 20)
  }),
  lie('lines of another text', 'log', 'elision', /other lines are missing/, line =>
    rewrite(line, 'of 90', 'of 91'),
  ),
  lie('a line that the original has not', 'log', 'elision', /no part of the original/, line =>
    replace(line, 'event', 'EVENT'),
  ),
  lie('a gap that is not marked', 'log', 'elision', /no part of the original/, line =>
    replace(line, /\n[^\n]*(?=\n\[…)/, ''),
  ),
  lie('items at another place', 'items', 'elision', /not so many items are missing at/, line =>
    rewrite(line, /\[\d+:\d+\]/, run => run.replace(/\d+/g, end => `${+end - 1}`)),
  ),
  lie('another next chunk', 'items', 'elision', /lists other chunks/, line =>
    rewrite(line, /chunk 2/, 'chunk 3'),
  ),
  lie('a next chunk of more', 'items', 'elision', /lists other chunks/, line =>
    rewrite(line, /(?<=next: chunk 2 of )\d+/, '99'),
  ),
  lie('a next chunk where there are none', 'fields', 'elision', /lists other chunks/, line =>
    rewrite(line, ' | hash=', ' | next: chunk 2 of 2 | hash='),
  ),
  lie('items of a longer list', 'items', 'elision', /not so many items are missing at/, line =>
    rewrite(line, ' of 90 ', ' of 91 '),
  ),
  lie('fewer items than are missing', 'items', 'elision', /not 3 items are missing/, line => {
    rewrite(line, /\d+ of 90 items at [^ ]+/, '3 of 90 items at $.names[87:90]')
    recount(line, 3)
  }),
  lie(
    'fewer fields than are missing',
    'list',
    'elision',
    /not (?:9|so many) fields are missing/,
    line => {
      rewrite(line, /\d+ fields/, '9 fields')
      recount(line, 9)
    },
  ),
  lie('fields at another place', 'list', 'elision', /not so many fields are missing at/, line =>
    rewrite(line, '[:].created_at', '[:].id'),
  ),
  lie('an item that the original has not', 'list', 'elision', /no part of the original/, line =>
    replace(line, '\n1,17\n', '\n1,18\n'),
  ),
  lie(
    'a text that is cut elsewhere than its mark says',
    'fields',
    'elision',
    /no part of the original/,
    line => replace(line, /\[\+(\d)/, '[+9$1'),
  ),
  lie('a marker before the content', 'fields', 'elision', /does not stand behind/, line => {
    const [body, marker] = line.answer.content.split(/\n(?=> \[)/)
    line.answer.content = `${marker}\n${body}`
  }),
  lie('what is left in another format', 'fields', 'elision', /what is left/, line => {
    line.answer.format = 'trimmed@1;csv@1'
  }),
  lie(
    'parts that are missing without a marker',
    'log',
    'answer',
    /number of markers is 1, not 0/,
    line => {
      line.answer.hints = []
    },
  ),
  lie('an error that was cut', 'log', 'answer', /must stay whole/, line => {
    line.request.is_error = true
  }),
  lie('parts that had to stay', 'log', 'answer', /must stay whole/, line => {
    line.request.mode = 'lossless'
  }),
]
