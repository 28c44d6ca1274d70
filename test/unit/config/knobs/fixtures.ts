import { page } from '../../../support/made-text.ts'
import type { Result } from './play.ts'

export const read = (name: string, text: string): Result => ({
  tool: 'Read',
  args: { file_path: `/src/${name}` },
  text,
})

/** The same file twice. */
export const SAME: readonly Result[] = [read('a', page(1)), read('a', page(1))]

/** A file, and the same with another first line. */
export const LINES: readonly Result[] = [
  read('a', page(1)),
  read('a', `a new first line\n${page(1).split('\n').slice(1).join('\n')}`),
]

const REMINDER = `<system-reminder>\n${page(7, 6)}\n</system-reminder>`

/** Two files with the same words of a host. */
export const REMINDED: readonly Result[] = [
  read('a', `${page(8)}\n${REMINDER}`),
  read('b', `${page(9)}\n${REMINDER}`),
]

const job = (status: string): Result => ({
  tool: 'get_job',
  args: { id: 7 },
  text: JSON.stringify({ id: 7, status, steps: page(2, 12) }),
})

/** A job, twice, with another state. */
export const JOBS: readonly Result[] = [job('pending'), job('success')]

/** The same with a result between them. */
export const FAR_JOBS: readonly Result[] = [
  job('pending'),
  { tool: 'get_job', args: { id: 8 }, text: page(3) },
  job('success'),
]

const list = (value: unknown, tool = 'list'): Result => ({
  tool,
  args: {},
  text: typeof value === 'string' ? value : JSON.stringify(value),
})

export const ROWS = [
  list(
    Array.from({ length: 30 }, (_, id) => ({
      id,
      name: `user ${id * 7919}`,
      state: id % 3 === 0 ? 'open' : 'closed',
      more: { at: id * 31, by: `team ${id % 4}` },
    })),
  ),
]

export const NESTED = [
  list({
    data: {
      pages: [{ items: [{ a: { b: { c: [1, 2, { d: 'deep' }] } } }, { a: { b: { c: [3] } } }] }],
    },
    rows: Array.from({ length: 12 }, (_, id) => ({
      id,
      tags: { all: [`t${id}`, `u${id}`], of: { n: id } },
    })),
  }),
]

/** Rows that CSV writes in a few tokens less than lines with keys, which are most of the text. */
export const WORDY = [list([1, 2].map(id => ({ id, state: 'open', text: page(id + 100, 8) })))]

/** A diff with files that matter less. */
export const DIFF: readonly Result[] = [
  {
    tool: 'Bash',
    args: { command: 'git diff' },
    text: ['src/a.ts', 'package-lock.json', 'src/b.ts'].map(fileDiff).join('\n'),
  },
]

function fileDiff(path: string, seed: number): string {
  const lines = page(seed + 200, 40).split('\n')
  return [
    `diff --git a/${path} b/${path}`,
    'index 1111111..2222222 100644',
    `--- a/${path}`,
    `+++ b/${path}`,
    '@@ -1,40 +1,40 @@',
    ...lines.flatMap((line, i) => (i === 20 ? [`-${line}`, `+${line} more`] : [` ${line}`])),
  ].join('\n')
}

/** A tool that answers with lines first, and then with a list. */
export const FORMATS: readonly Result[] = [list(page(6)), ...ROWS]

/** A log of which most is progress. */
export const LOG: readonly Result[] = [
  {
    tool: 'Bash',
    args: { command: 'npm test' },
    text: Array.from(
      { length: 300 },
      (_, i) => `10:00:${String(i % 60).padStart(2, '0')} INFO step ${i * i} is done`,
    ).join('\n'),
  },
]

/** Many results, of which old ones may be cleared. */
export const MANY: readonly Result[] = Array.from({ length: 24 }, (_, i) =>
  read(`f${i}`, page(i + 10)),
)
