import { type Lie, lie, replace, rewrite } from './lie.ts'

/** That hints stand in the content and can be read, and what references say. */
export const LIES_OF_REFERENCES: readonly Lie[] = [
  // Hints stand in the content, and can be read.
  lie('a hint that is not in the content', 'page', 'metadata', /no line of the content/, line =>
    replace(line, 'total=90', 'total=91'),
  ),
  lie('a hint within a line', 'reference', 'reference', /no line of the content/, line =>
    replace(line, '> [ref', 'see > [ref'),
  ),
  lie('a hint in other words', 'page', 'overflow', /cannot be read/, line =>
    rewrite(line, ' more.', ' left.', 1),
  ),
  lie('a hint of another family', 'page', 'format', /cannot be read/, line => {
    line.answer.hints = line.answer.hints.map(hint => ({ ...hint, family: 'format' }))
  }),
  lie('a hint that is not listed', 'lines', 'lines', /does not list it/, line => {
    line.answer.hints = []
  }),
  lie('a hint that no tool wrote', 'read', 'overflow', /does not list it/, line =>
    replace(line, '\n', '\n> [+5 more. call more()]\n'),
  ),
  // References.
  lie('a reference to nothing', 'reference', 'reference', /no earlier result/, line =>
    rewrite(line, /ref \w{8}/, 'ref 00000000'),
  ),
  lie(
    'a reference to another result',
    'reference',
    'answer',
    /decodes to something else/,
    (_, { reference, job }) => rewrite(reference, /ref \w{8}/, `ref ${job.answer.ref}`),
  ),
  lie('a reference to itself', 'job', 'reference', /it is this result itself/, line => {
    line.answer.hints = [
      { family: 'reference', text: `> [ref ${line.answer.ref} get_job 1 call ago]` },
    ]
  }),
  lie('a reference to an error', 'reference', 'reference', /refers to an error/, (_, { read }) => {
    read.request.is_error = true
  }),
  lie(
    'a reference into another session',
    'reference',
    'reference',
    /no earlier result/,
    (_, { read }) => {
      read.request.session = 'other'
    },
  ),
  lie(
    'a reference into a sub-agent',
    'near',
    'near_reference',
    /no earlier result/,
    (_, { job }) => {
      job.request.is_sidechain = true
    },
  ),
  lie('a wrong distance', 'lines', 'lines', /4 calls ago no call had this name/, line =>
    rewrite(line, '5 calls ago', '4 calls ago'),
  ),
  lie(
    'a distance to another result of the tool',
    'near',
    'near_reference',
    /2 calls ago was another text/,
    line => rewrite(line, '3 calls ago', '2 calls ago'),
  ),
  lie('another tool', 'reference', 'reference', /no call had this name/, line =>
    rewrite(line, 'Read', 'Grep'),
  ),
  lie('another argument', 'reference', 'reference', /no call had this name/, line =>
    rewrite(line, 'Read 3', 'Read(/src/z.ts) 3'),
  ),
  lie(
    'a name that a later call has',
    'near',
    'near_reference',
    /the latest call of this name had another text/,
    line => rewrite(line, 'get_job 3 calls ago', 'get_job()'),
  ),
  lie('a name that no call has', 'near', 'near_reference', /no earlier call is so named/, line =>
    rewrite(line, 'get_job 3 calls ago', 'get_job(9)'),
  ),
  lie(
    'no name, and an id that was never shown',
    'reference',
    'reference',
    /its id was never shown/,
    line => rewrite(line, ' Read 3 calls ago', ', byte-identical'),
  ),
  lie(
    'a change where the earlier result has nothing',
    'near',
    'answer',
    /cannot be decoded: the earlier result has no such value/,
    line => replace(line, 'status: done', 'state: done'),
  ),
  lie('a change to another value', 'near', 'answer', /decodes to something else/, line =>
    replace(line, 'status: done', 'status: lost'),
  ),
  lie('other lines', 'lines', 'answer', /decodes to something else/, line =>
    rewrite(line, '11-50', '11-49'),
  ),
  lie('lines that there are not', 'lines', 'answer', /cannot be decoded/, line =>
    rewrite(line, '11-50', '11-99'),
  ),
  lie('shifted lines', 'lines', 'answer', /decodes to something else/, line =>
    rewrite(line, 'ago]', 'ago, numbers +1]'),
  ),
]
