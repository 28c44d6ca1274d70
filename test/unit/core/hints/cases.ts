import type { Hint, Verbosity } from '../../../../src/core/hints/hint.ts'

const REF = '9f2c41aa'
const HASH = '9f2c41aa07d3b85e16f04c2a'

/** Hints, and how they are written in each verbosity; the verbose line always tells every fact. */
export const CASES: readonly {
  readonly hint: Hint
  readonly lines: Readonly<Record<Verbosity, string>>
}[] = [
  {
    hint: { family: 'reference', ref: REF },
    lines: {
      terse: '> [ref 9f2c41aa]',
      standard: '> [ref 9f2c41aa, byte-identical]',
      verbose: '> [ref 9f2c41aa, byte-identical, GET /v1/retrieve/{ref}]',
    },
  },
  {
    hint: { family: 'reference', ref: REF, call: { tool: 'Read', argument: { end: 'hint.ts' } } },
    lines: {
      terse: '> [ref 9f2c41aa]',
      standard: '> [ref 9f2c41aa Read(*hint.ts)]',
      verbose: '> [ref 9f2c41aa, byte-identical to Read(*hint.ts), GET /v1/retrieve/{ref}]',
    },
  },
  {
    hint: { family: 'reference', ref: REF, call: { tool: 'Bash', calls_ago: 3 } },
    lines: {
      terse: '> [ref 9f2c41aa]',
      standard: '> [ref 9f2c41aa Bash 3 calls ago]',
      verbose: '> [ref 9f2c41aa, byte-identical to Bash 3 calls ago, GET /v1/retrieve/{ref}]',
    },
  },
  {
    hint: { family: 'reference', ref: REF, call: { tool: 'exec', calls_ago: 3, part: 2 } },
    lines: {
      terse: '> [ref 9f2c41aa]',
      standard: '> [ref 9f2c41aa part 2 of exec 3 calls ago]',
      verbose:
        '> [ref 9f2c41aa, byte-identical to part 2 of exec 3 calls ago, GET /v1/retrieve/{ref}]',
    },
  },
  {
    hint: {
      family: 'near_reference',
      ref: REF,
      call: { tool: 'get_job', argument: '7' },
      changes: [
        { path: 'status', from: 'pending', to: 'success' },
        { path: '$.steps[2].code', from: null, to: 0 },
      ],
    },
    lines: {
      terse: '> [near-ref 9f2c41aa, status: pending→success, $.steps[2].code: null→0]',
      standard:
        '> [near-ref 9f2c41aa get_job(7), status: pending→success, $.steps[2].code: null→0]',
      verbose:
        '> [near-ref 9f2c41aa, identical to get_job(7), except status: pending→success, $.steps[2].code: null→0; GET /v1/retrieve/{ref}]',
    },
  },
  {
    hint: {
      family: 'near_reference',
      ref: REF,
      call: { tool: 'get_job', calls_ago: 2 },
      changes: [],
    },
    lines: {
      terse: '> [near-ref 9f2c41aa, except:]',
      standard: '> [near-ref 9f2c41aa get_job 2 calls ago, except:]',
      verbose:
        '> [near-ref 9f2c41aa, identical to get_job 2 calls ago; GET /v1/retrieve/{ref}, except:]',
    },
  },
  {
    hint: {
      family: 'lines',
      ref: REF,
      call: { tool: 'Read', argument: 'hint.ts', calls_ago: 12 },
      first: 40,
      last: 80,
      shift: 3,
    },
    lines: {
      terse: '> [ref 9f2c41aa lines 40-80, numbers +3]',
      standard: '> [ref 9f2c41aa lines 40-80 of Read(hint.ts) 12 calls ago, numbers +3]',
      verbose:
        '> [ref 9f2c41aa lines 40-80, identical to Read(hint.ts) 12 calls ago, numbers +3, GET /v1/retrieve/{ref}?lines=40-80]',
    },
  },
  {
    hint: {
      family: 'overflow',
      omitted: 18,
      unit: 'issues',
      call: { name: 'get_issues', args: { status: 'open', page: 2 } },
    },
    lines: {
      terse: '> [+18: get_issues(status="open", page=2)]',
      standard: '> [+18 more issues. call get_issues(status="open", page=2)]',
      verbose: '> [+18 more issues, omitted here. call get_issues(status="open", page=2)]',
    },
  },
  {
    hint: {
      family: 'overflow',
      omitted: 18,
      unit: 'issues',
      call: { name: 'get_issues', args: { status: 'open', page: 2 } },
      changed: ['page'],
    },
    lines: {
      terse: '> [+18: get_issues(…, page=2)]',
      standard: '> [+18 more issues. call get_issues(…, page=2)]',
      verbose: '> [+18 more issues, omitted here. call get_issues(status="open", page=2)]',
    },
  },
  {
    hint: { family: 'format', format: 'csv@1', from: 'json', rows: 18, columns: 6 },
    lines: {
      terse: '> [encoded: csv@1]',
      standard: '> [encoded: csv@1 from json | rows=18, cols=6]',
      verbose: '> [encoded: csv@1 from json | rows=18, cols=6 | POST /v1/decode]',
    },
  },
  {
    hint: {
      family: 'metadata',
      query: 'status=open',
      total: 247,
      returned: 20,
      sort: { by: 'created_at', order: 'desc' },
    },
    lines: {
      terse: '> [20 of 247]',
      standard: '> [query: "status=open" | total=247 | returned=20 | sort=created_at:desc]',
      verbose: '> [query: "status=open" | total=247 | returned=20 | sort=created_at:desc]',
    },
  },
  {
    hint: {
      family: 'elision',
      hash: HASH,
      parts: [
        { unit: 'items', omitted: 34, of: 60, at: '$.items[3:37]' },
        { unit: 'lines', omitted: 41, of: 400, at: 'lines 40-80' },
      ],
      summary: '12 passed, 3 failed',
    },
    lines: {
      terse: `> [34 items, 41 lines not shown | hash=${HASH}]`,
      standard: `> [34 of 60 items at $.items[3:37], lines 40-80 of 400 not shown | "12 passed, 3 failed" | hash=${HASH}]`,
      verbose: `> [34 of 60 items at $.items[3:37], lines 40-80 of 400 not shown | "12 passed, 3 failed" | hash=${HASH} | GET /v1/retrieve/{hash}]`,
    },
  },
  {
    hint: {
      family: 'elision',
      hash: HASH,
      parts: [{ unit: 'items', omitted: 40, of: 60, at: '$[20:60]' }],
      next: { chunk: 2, of: 3 },
    },
    lines: {
      terse: `> [40 items not shown | next: chunk 2 of 3 | hash=${HASH}]`,
      standard: `> [40 of 60 items at $[20:60] not shown | next: chunk 2 of 3 | hash=${HASH}]`,
      verbose: `> [40 of 60 items at $[20:60] not shown | next: chunk 2 of 3 | hash=${HASH} | GET /v1/retrieve/{hash}]`,
    },
  },
  {
    hint: { family: 'search_chain', searches: 5, of: 7 },
    lines: {
      terse: '> [5 of 7 calls searched]',
      standard: '> [5 of 7 calls searched. read what they found]',
      verbose: '> [5 of 7 calls searched, this one too. read what they found]',
    },
  },
]
