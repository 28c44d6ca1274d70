import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toBytes } from '../../../../src/core/base/text-bytes.ts'
import { type NewEntry, sessionKey } from '../../../../src/core/sessions/index/session-index.ts'
import {
  applyChanges,
  type SharedTurn,
  wordsOf,
} from '../../../../src/core/sessions/journal/apply-changes.ts'
import {
  type Change,
  joinChanges,
  readChanges,
  type WrittenChanges,
  writeChanges,
} from '../../../../src/core/sessions/journal/changes.ts'
import { recordChanges } from '../../../../src/core/sessions/journal/record-changes.ts'
import { scanText } from '../../../../src/core/sessions/lines/scan-text.ts'
import { NO_TEXT, notesKey } from '../../../../src/core/sessions/turn/call-memory.ts'
import { contextKey } from '../../../../src/core/sessions/turn/open-turn.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../../../src/core/sessions/turn/shared-sessions.ts'

const EPOCH = 77
const named = { tenant: 'acme', session: 's' }
const key = sessionKey('acme', 's')
const WORDS = wordsOf('acme', 's', EPOCH)
const context = contextKey(key, EPOCH)
const TEXT = 'a line of text\nand another one\n'
const identity = hash('sha256', TEXT)
const NOTE = JSON.stringify({ tool: 'Read', sequence: 1, hops: 0 })
const NOTE_ID = hash('sha256', 'note')
const entry: NewEntry = {
  identity,
  kind: 'file-read',
  toolHash: 1,
  pathHash: 2,
  callHash: 3,
  bytes: TEXT.length,
  timeMs: 5,
  answer: 'full',
  of: 0,
}

function process() {
  const size = { maxSessions: 4, maxEntries: 16, seeds: [1, 2] } as const
  return attachSessions(createSharedSessions(size, 1 << 20), { owner: MAIN_OWNER })
}

const shared = (
  changes: readonly WrittenChanges[],
  fields: Partial<SharedTurn> = {},
): SharedTurn => ({
  epoch: EPOCH,
  partition: 0,
  results: 1,
  openedMs: 0,
  timeMs: 5,
  from: 0,
  to: changes.length,
  isBroken: false,
  isUnsure: false,
  changes,
  texts: new Map([[identity, toBytes(TEXT)]]),
  ...fields,
})

/** What one result did in a process, and the process. */
function turnOfOne() {
  const sessions = process()
  applyChanges(sessions, named, shared([]))
  const { sessions: recorded, changes } = recordChanges(sessions)
  const { index, bodies } = recorded
  const turn = index.begin(key, { timeMs: 5, again: { sequence: 1, epoch: EPOCH } })
  const ticket = index.record(turn, entry, { lruSize: 4 })!
  bodies.confirm(bodies.place(scanText(TEXT, context)!, context, identity, NOTE)!)
  bodies.confirm(bodies.place(NO_TEXT, notesKey(context), NOTE_ID, 'a note')!)
  index.commit(ticket, true)
  index.count(key, { exact: 2 })
  index.takeHint(key, 1, 9)
  return { sessions, recorded, changes, turn }
}

const written = (changes: readonly Change[], sequence = 1) =>
  writeChanges({ sequence, timeMs: 5, changes }, WORDS)

describe('what one process changes', () => {
  test('is the same in another one', () => {
    const { sessions: one, changes } = turnOfOne()
    const two = process()
    applyChanges(two, named, shared([written(changes)]))
    expect(two.index.entries(key)).toEqual(one.index.entries(key))
    expect(two.index.summary(key)).toEqual(one.index.summary(key))
    expect(two.bodies.read(identity, context)).toBe(TEXT)
    expect(two.bodies.noteOf(identity, context)).toBe(NOTE)
    expect(two.bodies.noteOf(NOTE_ID, notesKey(context))).toBe('a note')
    expect(written(changes).texts).toEqual([{ identity, bytes: TEXT.length }])
  })

  test('is applied once, whatever happens', () => {
    const { changes } = turnOfOne()
    const two = process()
    const bytes = [written(changes)]
    for (let i = 0; i < 3; i++) applyChanges(two, named, shared(bytes))
    expect(two.index.entries(key)).toHaveLength(1)
    expect(two.index.summary(key)?.exact).toBe(2)
  })

  test('has a reference to an entry that the other one knows', () => {
    const { recorded, sessions: one, changes } = turnOfOne()
    const next = one.index.begin(key, { timeMs: 6 })
    const [known] = one.index.entries(key)
    recorded.index.refer(next, known!, 9)
    const refer = changes.at(-1)!
    const two = process()
    const turns = [written(changes.slice(0, -1)), written([refer], 2)]
    applyChanges(two, named, shared(turns))
    // The call is a retry now, which is answered with the reference again.
    const retry = { timeMs: 7, callHash: 9, identity }
    expect(two.index.begin(key, retry)).toMatchObject({
      sequence: 2,
      answered: { as: 'reference' },
    })
  })

  test('makes stale what the other one has', () => {
    const { changes } = turnOfOne()
    const { sessions: recorded, changes: later } = recordChanges(process())
    // The process that tells of it has no such entry.
    expect(recorded.index.invalidate(key, { pathHash: 2 })).toBe(0)
    const two = process()
    applyChanges(two, named, shared([written(changes), written(later, 0)]))
    expect(two.index.entries(key)).toEqual([])
    expect(two.index.summary(key)?.results).toBe(1)
  })

  test('without its text is known, but nothing refers to it', () => {
    const { changes } = turnOfOne()
    const two = process()
    applyChanges(two, named, shared([written(changes)], { texts: new Map() }))
    expect(two.index.entries(key)).toHaveLength(1)
    expect(two.bodies.noteOf(identity, context)).toBeNull()
  })
})

test('changes of several results can be told as one', () => {
  const { changes } = turnOfOne()
  const [one, two] = [
    { changes, sequence: 1 },
    { changes: [], sequence: 2 },
  ]
  const parts = [one, two, one].map(each => {
    return { session: 's', epoch: EPOCH, ...writeChanges({ ...each, timeMs: 5 }, WORDS) }
  })
  const { texts } = parts[0]!
  const joined = joinChanges(parts)
  const whole = (each: WrittenChanges) => readChanges(each, WORDS)
  expect(whole(joined)).toEqual(parts.flatMap(whole))
  expect(whole(joined)).toEqual([one, two, one].map(each => ({ ...each, timeMs: 5 })))
  expect(joined).toMatchObject({ session: 's', epoch: EPOCH, texts: [...texts, ...texts] })
  expect(joinChanges(parts.slice(0, 1))).toEqual(parts[0])
})

describe('a change that cannot be understood', () => {
  // No texts, two bytes, version 2.
  const later = { bytes: Uint8Array.of(0, 2, 2, 7), texts: [] }

  test('is none of this version', () => {
    expect(readChanges(later, [])).toEqual([null])
    expect(readChanges({ bytes: new Uint8Array(0), texts: [] }, [])).toEqual([null])
    expect(() => readChanges({ bytes: Uint8Array.of(0, 2, 1), texts: [] }, [])).toThrow(SyntaxError)
  })

  test('may have made anything stale', () => {
    const { changes } = turnOfOne()
    const two = process()
    applyChanges(two, named, shared([written(changes), later]))
    expect(two.index.entries(key)).toEqual([])
  })
})

test('long answers are not told', () => {
  const note = { kind: 'note', id: NOTE_ID } as const
  const changes = [
    { ...note, note: 'x'.repeat(8_192) },
    { ...note, note: 'x'.repeat(8_193) },
  ]
  expect(readChanges(written(changes), WORDS)[0]?.changes).toEqual(changes.slice(0, 1))
})
