import { hash } from 'node:crypto'
import { bodyOf } from '../../src/core/verify/answer-body.ts'
import { decode } from '../../src/index.ts'
import { createRandom } from '../../src/lab/bill/statistics.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { createLocalSessions } from '../../src/library/local-sessions.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet } from './data-set.ts'
import { at, having, pick, rowsOf, times } from './reading.ts'

export const sessions = () => createLocalSessions(createLocalContext(), { bodyBytes: 1 << 20 })

/** Two readings of a file, as a model has them before it. */
export const readings = (first: string, second: string) =>
  `Result 1 of Read:\n${first}\nResult 2 of Read:\n${second}`

const DONE = ['opened', 'read', 'wrote', 'closed', 'flushed']
const FAILURE = ['ERROR worker 3: connection refused by db-7', '  at connect (src/db.ts:41:7)']

/** A log of which a budget leaves the bulk out. */
export function elidedLog(): DataSet {
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
