import { expect, it } from 'vitest'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../../../../src/core/sessions/turn/shared-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i * 7919} of it`).join('\n')
const rows = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, name: `user ${id}`, on: true })))

function session() {
  const shared = createSharedSessions({ maxSessions: 4, maxEntries: 16, seeds: [1, 2] }, 1 << 18)
  const sessions = attachSessions(shared, { owner: MAIN_OWNER })
  const context = {
    ...localContext(),
    pipeline: pipelineSchema.parse({ hints: { types: { format: {} } } }),
    sessions: { ...sessions, tenant: '', nowMs: 0 },
  }
  return (tool_call_id: string, content: string, tool = 'list') =>
    encodeOperation.run({ session: 's', tool, tool_call_id, content }, context).answer.content
}

it('is compared with, and a retry gets the same note again', () => {
  const encode = session()
  expect(encode('a', LINES)).not.toContain('> [encoded: ')
  const noted = encode('b', rows(60))
  expect(noted).toMatch(/^> \[encoded: \w+@\d \| rows=60, cols=3\]\n/)
  const plain = encode('c', rows(61))
  expect(plain).not.toContain('> [encoded: ')
  encode('d', LINES)
  expect(encode('b', rows(60))).toBe(noted)
  expect(encode('c', rows(61))).toBe(plain)
})

it('is that of the endpoint', () => {
  const encode = session()
  encode('a', LINES, 'other')
  expect(encode('b', rows(60))).not.toContain('> [encoded: ')
})
