import { type Lie, replace, rewrite } from './lie.ts'

/** That hints stand in the content and can be read, and what references say. */
export const LIES_OF_REFERENCES: readonly Lie[] = [
  // Hints stand in the content, and can be read.
  [
    'a hint that is not in the content',
    'page',
    ({ page }) => replace(page, 'total=90', 'total=91'),
    'metadata',
    /no line of the content/,
  ],
  [
    'a hint within a line',
    'reference',
    ({ reference }) => replace(reference, '> [ref', 'see > [ref'),
    'reference',
    /no line of the content/,
  ],
  [
    'a hint in other words',
    'page',
    ({ page }) => rewrite(page, ' more.', ' left.', 1),
    'overflow',
    /cannot be read/,
  ],
  [
    'a hint of another family',
    'page',
    ({ page }) => {
      page.answer.hints = page.answer.hints.map(hint => ({ ...hint, family: 'format' }))
    },
    'format',
    /cannot be read/,
  ],
  [
    'a hint that is not listed',
    'lines',
    ({ lines }) => {
      lines.answer.hints = []
    },
    'lines',
    /does not list it/,
  ],
  [
    'a hint that no tool wrote',
    'read',
    ({ read }) => replace(read, '\n', '\n> [+5 more. call more()]\n'),
    'overflow',
    /does not list it/,
  ],
  // References.
  [
    'a reference to nothing',
    'reference',
    ({ reference }) => rewrite(reference, /ref \w{8}/, 'ref 00000000'),
    'reference',
    /no earlier result/,
  ],
  [
    'a reference to another result',
    'reference',
    ({ reference, job }) => rewrite(reference, /ref \w{8}/, `ref ${job.answer.ref}`),
    'answer',
    /decodes to something else/,
  ],
  [
    'a reference to itself',
    'job',
    ({ job }) => {
      job.answer.hints = [
        { family: 'reference', text: `> [ref ${job.answer.ref} get_job 1 call ago]` },
      ]
    },
    'reference',
    /it is this result itself/,
  ],
  [
    'a reference to an error',
    'reference',
    ({ read }) => {
      read.request.is_error = true
    },
    'reference',
    /refers to an error/,
  ],
  [
    'a reference into another session',
    'reference',
    ({ read }) => {
      read.request.session = 'other'
    },
    'reference',
    /no earlier result/,
  ],
  [
    'a reference into a sub-agent',
    'near',
    ({ job }) => {
      job.request.is_sidechain = true
    },
    'near_reference',
    /no earlier result/,
  ],
  [
    'a wrong distance',
    'lines',
    ({ lines }) => rewrite(lines, '5 calls ago', '4 calls ago'),
    'lines',
    /4 calls ago no call had this name/,
  ],
  [
    'a distance to another result of the tool',
    'near',
    ({ near }) => rewrite(near, '3 calls ago', '2 calls ago'),
    'near_reference',
    /2 calls ago was another text/,
  ],
  [
    'another tool',
    'reference',
    ({ reference }) => rewrite(reference, 'Read', 'Grep'),
    'reference',
    /no call had this name/,
  ],
  [
    'another argument',
    'reference',
    ({ reference }) => rewrite(reference, 'Read 3', 'Read(/src/z.ts) 3'),
    'reference',
    /no call had this name/,
  ],
  [
    'a name that a later call has',
    'near',
    ({ near }) => rewrite(near, 'get_job 3 calls ago', 'get_job()'),
    'near_reference',
    /the latest call of this name had another text/,
  ],
  [
    'a name that no call has',
    'near',
    ({ near }) => rewrite(near, 'get_job 3 calls ago', 'get_job(9)'),
    'near_reference',
    /no earlier call is so named/,
  ],
  [
    'no name, and an id that was never shown',
    'reference',
    ({ reference }) => rewrite(reference, ' Read 3 calls ago', ', byte-identical'),
    'reference',
    /its id was never shown/,
  ],
  [
    'a change where the earlier result has nothing',
    'near',
    ({ near }) => replace(near, 'status: done', 'state: done'),
    'answer',
    /cannot be decoded: the earlier result has no such value/,
  ],
  [
    'a change to another value',
    'near',
    ({ near }) => replace(near, 'status: done', 'status: lost'),
    'answer',
    /decodes to something else/,
  ],
  [
    'other lines',
    'lines',
    ({ lines }) => rewrite(lines, '11-50', '11-49'),
    'answer',
    /decodes to something else/,
  ],
  [
    'lines that there are not',
    'lines',
    ({ lines }) => rewrite(lines, '11-50', '11-99'),
    'answer',
    /cannot be decoded/,
  ],
  [
    'shifted lines',
    'lines',
    ({ lines }) => rewrite(lines, 'ago]', 'ago, numbers +1]'),
    'answer',
    /decodes to something else/,
  ],
]
