import { expect, test } from 'vitest'
import { sessionKey } from '../../../../src/core/sessions/index/session-index.ts'
import { applyChanges } from '../../../../src/core/sessions/journal/apply-changes.ts'
import { writeChanges } from '../../../../src/core/sessions/journal/changes.ts'
import { recordChanges } from '../../../../src/core/sessions/journal/record-changes.ts'
import { createHintNotes } from '../../../../src/core/sessions/turn/context-notes.ts'
import { contextKey } from '../../../../src/core/sessions/turn/open-turn.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../../../src/core/sessions/turn/shared-sessions.ts'

const EPOCH = 77
const key = sessionKey('acme', 's')
const context = contextKey(key, EPOCH)

function process() {
  const size = { maxSessions: 4, maxEntries: 16, seeds: [1, 2] } as const
  return attachSessions(createSharedSessions(size, 1 << 20), { owner: MAIN_OWNER })
}

test('the results since the last hint of a family are counted as far as they matter', () => {
  const notes = createHintNotes(process().bodies, context)
  notes.write(4, [0, 6])
  notes.write(7, [2])
  expect(notes.since(5, 0, 9)).toBe(1)
  expect(notes.since(8, 6, 4)).toBe(4)
  expect(notes.since(8, 6, 3)).toBe(0)
  expect(notes.since(8, 2, 99)).toBe(1)
  expect(notes.since(8, 1, 99)).toBe(0)
  expect(notes.since(4, 0, 99)).toBe(0)
})

test('they are of one context', () => {
  const { bodies } = process()
  createHintNotes(bodies, context).write(4, [0])
  expect(createHintNotes(bodies, contextKey(key, EPOCH + 1)).since(5, 0, 9)).toBe(0)
})

test('a process that shares the session counts the same', () => {
  const { sessions, changes } = recordChanges(process())
  createHintNotes(sessions.bodies, context).write(4, [0])
  const other = process()
  applyChanges(
    other,
    { tenant: 'acme', session: 's' },
    {
      epoch: EPOCH,
      partition: 0,
      results: 4,
      openedMs: 0,
      timeMs: 5,
      from: 0,
      to: 1,
      isBroken: false,
      isUnsure: false,
      changes: [writeChanges({ sequence: 4, timeMs: 5, changes }, [])],
      texts: new Map(),
    },
  )
  expect(createHintNotes(other.bodies, context).since(6, 0, 9)).toBe(2)
})
