import { expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { rows } from './conversation.ts'

const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }
const SECRET = new Uint8Array(32).fill(7)

function request(opening: string, turns: number): Uint8Array {
  const steps = Array.from({ length: turns }, (_, n) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${n}`, name: 'list', input: { n } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: rows(20, n * 100) }],
    },
  ])
  const messages = [{ role: 'user', content: opening }, ...steps.flat()]
  return bytesOf(JSON.stringify({ model: 'claude-sonnet-4-5', messages }))
}

it('a session stays in its arm when the clock jumps over quarters, and shares change', () => {
  const context = localContext()
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  const armIn = (session: string, turn: number, quarter: number, holdout: number) => {
    const arms = { secret: SECRET, quarter, holdout, explore: 0, session }
    const { records, report } = rewriteRequest(
      request(session, turn),
      'anthropic_messages',
      LIMITS,
      {
        ...context,
        rewrites: { tenant: '', memory, recalled: {} },
        terms: { redeems: false, bypass: false, arms },
      },
    )
    for (const { position } of records) if (position !== null) memory.confirm(position)
    return report.held_out !== undefined
  }
  const sessions = Array.from({ length: 30 }, (_, n) => `session-${n}`)
  const first = sessions.map(session => armIn(session, 0, 8_103, 0.5))
  expect(first.filter(Boolean).length).toBeGreaterThan(5)
  expect(first.filter(Boolean).length).toBeLessThan(25)
  for (const [quarter, share] of [
    [8_104, 0.5],
    [8_102, 0.5],
    [8_104, 0],
    [8_104, 1],
  ] as const) {
    expect(sessions.map(session => armIn(session, 1, quarter, share))).toEqual(first)
  }
  // Another quarter draws anew for sessions that begin in it.
  const later = sessions.map(session => armIn(`${session}-later`, 0, 8_104, 0.5))
  expect(later).not.toEqual(first)
})
