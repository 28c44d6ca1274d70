import { hash } from 'node:crypto'
import { bodyOf } from '../../src/core/verify/answer-body.ts'
import { decode } from '../../src/index.ts'
import { createRandom } from '../../src/lab/bill/statistics.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { createLocalSessions } from '../../src/library/local-sessions.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet } from './data-set.ts'
import { at, column, found, having, numbered, pick, rowsOf, times } from './reading.ts'

/** Answers that refer to an earlier result, or lack parts of their own. */
export function sessionSets(): readonly DataSet[] {
  return [editedFile(), elidedLog()]
}

export const sessions = () => createLocalSessions(createLocalContext(), { bodyBytes: 1 << 20 })

/** Two readings of a file, as a model has them before it. */
export const readings = (first: string, second: string) =>
  `Result 1 of Read:\n${first}\nResult 2 of Read:\n${second}`

/** A file that is read, edited and read again; the second reading is what questions are about. */
function editedFile(): DataSet {
  const random = createRandom(131)
  const before = times(60, step => {
    return `export function step${step}(buffer, ${random(900)}) { return ${random(90)} }`
  })
  const added = ['export const limit = 512', 'export const retries = 3']
  const after = [...before.slice(0, 20), ...added, ...before.slice(25)]
  const call = { session: 's', tool: 'Read', args: { file_path: 'src/steps.ts' } }
  const textOf = (d: Json, line: number) => having(rowsOf(d), 'line', line)[0]?.['text']
  const withText = (d: Json, part: string) =>
    rowsOf(d).filter(({ text }) => String(text).includes(part))
  return {
    name: 'edited file',
    data: after.map((text, index) => ({ line: index + 1, text })),
    answer() {
      const local = sessions()
      const [first, second] = [before, after].map(lines =>
        local.encode({ ...call, content: numbered(lines) }),
      )
      return { format: second!.format, content: readings(first!.content, second!.content) }
    },
    questions: [
      [
        'In the second result, what does the function in line 5 return?',
        d => found(/return (\d+)/, textOf(d, 5)),
      ],
      [
        'In the second result, what is the name of the function in line 40?',
        d => found(/function (\w+)/, textOf(d, 40)),
      ],
      [
        'In the second result, which line has the function step50? Give its number.',
        d => withText(d, ' step50(')[0]?.['line'],
      ],
      [
        'Which lines (their numbers) of the second result define no function?',
        d =>
          column(
            rowsOf(d).filter(({ text }) => !String(text).includes('function')),
            'line',
          ),
      ],
      [
        'What is the number of the last line of the second result?',
        d => rowsOf(d).at(-1)?.['line'],
      ],
      [
        'Is the function step22 in the second result? Answer yes or no.',
        d => (withText(d, ' step22(').length > 0 ? 'yes' : 'no'),
      ],
    ],
  }
}

const DONE = ['opened', 'read', 'wrote', 'closed', 'flushed']
const FAILURE = ['ERROR worker 3: connection refused by db-7', '  at connect (src/db.ts:41:7)']

/** A log of which a budget leaves the bulk out. */
function elidedLog(): DataSet {
  const random = createRandom(137)
  const lines = times(160, at => {
    return `${pick(random, DONE)} page ${7919 * (at + 1)} in ${random(90)} ms`
  })
  lines.splice(57, FAILURE.length, ...FAILURE)
  const whole = lines.join('\n')
  const asked = { content: whole, mode: 'elide', budget_tokens: 500 } as const
  const call = { session: 's', tool: 'Bash', args: { command: 'make logs' } }
  const answer = sessions().encode({ ...call, ...asked })
  const { format, content } = answer
  const left = decode(bodyOf(answer)!).content
  const kept = lines.flatMap((text, index) =>
    left.includes(text) ? [{ line: index + 1, text }] : [],
  )
  const shown = (d: Json) => rowsOf(at(d, 'shown'))
  return {
    name: 'log with parts left out',
    data: { lines: lines.length, hash: hash('sha256', whole, 'hex').slice(0, 24), shown: kept },
    answer: () => ({ format, content }),
    questions: [
      [
        'Which line has the error? Give its number.',
        d => shown(d).find(({ text }) => String(text).startsWith('ERROR'))?.['line'],
      ],
      ['With which hash can the whole be fetched?', d => at(d, 'hash')],
      ['How many lines are left out?', d => Number(at(d, 'lines')) - shown(d).length],
      ['How many lines does the whole result have?', d => at(d, 'lines')],
      [
        'Is line 30 shown? Answer yes or no.',
        d => (having(shown(d), 'line', 30).length > 0 ? 'yes' : 'no'),
      ],
      ['What is the number of the last line that is shown?', d => shown(d).at(-1)?.['line']],
    ],
  }
}
