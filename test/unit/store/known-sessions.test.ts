import { describe, expect, test } from 'vitest'
import { KnownSessions } from '../../../src/store/sharing/known-sessions.ts'
import type { OpenedSession } from '../../../src/store/store.ts'

/** A turn that was opened, by the number of its result. */
function opened(results: number, fields: Partial<OpenedSession> = {}): OpenedSession {
  const state = { epoch: 7, partition: 0, results, openedMs: 0, sequences: [results] }
  const changes = { from: results - 1, to: results - 1, isBroken: false, changes: [] }
  return { ...state, ...changes, texts: new Map(), isUnsure: false, ...fields }
}
const foreign = { changes: [{ bytes: new Uint8Array(1), texts: [] }] }

/** One request to the session after the other, each opened and told. */
function turns(known: KnownSessions, from: number, to: number, fields = {}): void {
  for (let i = from; i <= to; i++) {
    void known.enter('s')
    known.opened('s', opened(i, fields), `call ${i}`)
    known.told('s', 7, i)
    known.leave('s')
  }
}

function expected(known: KnownSessions, call = 'next') {
  void known.enter('s')
  const found = known.expected('s', call)
  known.leave('s')
  return found
}

describe('a session', () => {
  test('is expected to stay after one turn that did, if sessions stay', () => {
    const known = new KnownSessions(0)
    turns(known, 1, 1)
    expect(expected(known)).toBeNull()
    turns(known, 2, 2)
    expect(expected(known)).toEqual({ epoch: 7, partition: 0, results: 2, openedMs: 0, last: 2 })
    // A call that comes again is looked up.
    expect(expected(known, 'call 2')).toBeNull()
    expect(expected(known, 'call 1')).toBeNull()
  })

  test('is expected to stay after many turns, as long as others move', () => {
    const known = new KnownSessions(64)
    turns(known, 1, 8)
    expect(expected(known)).toBeNull()
    turns(known, 9, 9)
    expect(expected(known)).not.toBeNull()
    turns(known, 10, 10, foreign)
    expect(expected(known)).toBeNull()
  })

  test('is not expected to be as it was while another request uses it', async () => {
    const known = new KnownSessions(0)
    turns(known, 1, 3)
    void known.enter('s')
    expect(expected(known)).toBeNull()
    known.leave('s')
    const done = known.goAhead('s')
    const waiting = known.enter('s')
    expect(known.expected('s', 'next')).toBeNull()
    done()
    await waiting
    expect(known.enter('s')).toBeNull()
  })

  test('counts on from what was told, and is unknown after anything else', () => {
    const known = new KnownSessions(0)
    turns(known, 1, 3)
    known.told('s', 7, 4, 'call 4')
    expect(expected(known)).toMatchObject({ results: 4, last: 4 })
    // A turn may change nothing.
    known.told('s', 7, 4, 'call 5')
    expect(expected(known)).toMatchObject({ results: 5, last: 4 })
    known.told('s', 7, 6)
    expect(expected(known)).toBeNull()
    turns(known, 7, 9)
    known.told('s', 8, 10)
    expect(expected(known)).toBeNull()
    turns(known, 10, 12)
    known.forget('s')
    expect(expected(known)).toBeNull()
    turns(known, 13, 14, { isUnsure: true })
    expect(expected(known)).toBeNull()
  })
})
