import { hash } from 'node:crypto'
import { bodyOf } from '../../src/core/verify/answer-body.ts'
import { decode } from '../../src/index.ts'
import { createRandom } from '../../src/lab/bill/statistics.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { createLocalSessions } from '../../src/library/local-sessions.ts'
import type { DataSet } from './data-sets.ts'

/** Answers that refer to an earlier result, or lack parts of their own. */
export function sessionSets(): DataSet[] {
  return [editedFile(), elidedLog()]
}

const sessions = () => createLocalSessions(createLocalContext(), { bodyBytes: 1 << 20 })

/** A file that is read, edited and read again; the second reading is what questions are about. */
function editedFile(): DataSet {
  const random = createRandom(131)
  const before = Array.from({ length: 60 }, (_, step) => {
    return `export function step${step}(buffer, ${random(900)}) { return ${random(90)} }`
  })
  const added = ['export const limit = 512', 'export const retries = 3']
  const after = [...before.slice(0, 20), ...added, ...before.slice(25)]
  const call = { session: 's', tool: 'Read', args: { file_path: 'src/steps.ts' } }
  return {
    name: 'edited file',
    kind: 'text',
    data: after.map((text, index) => ({ line: index + 1, text })),
    answer() {
      const local = sessions()
      const read = (lines: readonly string[]) => local.encode({ ...call, content: numbered(lines) })
      const first = read(before)
      const second = read(after)
      const content = `Result 1 of Read:\n${first.content}\nResult 2 of Read:\n${second.content}`
      return { format: second.format, content }
    },
  }
}

function numbered(lines: readonly string[]): string {
  return lines.map((text, index) => `${String(index + 1).padStart(6)}→${text}`).join('\n')
}

const VERBS = ['opened', 'read', 'wrote', 'closed', 'flushed']
const FAILURE = ['ERROR worker 3: connection refused by db-7', '  at connect (src/db.ts:41:7)']

/** A log of which a budget leaves the bulk out. */
function elidedLog(): DataSet {
  const random = createRandom(137)
  const lines = Array.from({ length: 160 }, (_, at) => {
    return `${VERBS[random(VERBS.length)]} page ${7919 * (at + 1)} in ${random(90)} ms`
  })
  lines.splice(57, FAILURE.length, ...FAILURE)
  const whole = lines.join('\n')
  const asked = { content: whole, mode: 'elide', budget_tokens: 500 } as const
  const call = { session: 's', tool: 'Bash', args: { command: 'make logs' } }
  const answer = sessions().encode({ ...call, ...asked })
  const { format, content } = answer
  const rest = bodyOf(answer)!
  const left = decode(rest).content
  const shown = lines.flatMap((text, index) =>
    left.includes(text) ? [{ line: index + 1, text }] : [],
  )
  return {
    name: 'log with parts left out',
    kind: 'text',
    data: { lines: lines.length, hash: hash('sha256', whole, 'hex').slice(0, 24), shown },
    answer: () => ({ format, content }),
  }
}
