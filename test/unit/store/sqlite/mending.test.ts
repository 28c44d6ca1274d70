import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inlineStore, keep } from '../inline-store.ts'
import { plantedLedger, sqliteError } from './planted-commits.ts'

const sha = (text: string) => hash('sha256', text)
const CORRUPT = 11
/** Tables that are gone, or a bug of ours. */
const ODD = 1
const LOST_CONNECTION = 10 | (21 << 8)

/** A commits of which reads fail on the first `times` connections, or always. */
function failing(errcode: number, times = Number.POSITIVE_INFINITY, options = {}) {
  const planted = plantedLedger(options)
  planted.put('x')
  const state = { errcode, times }
  planted.state.before = (sql, connection) => {
    if (sql === 'BEGIN' && connection <= state.times) throw sqliteError(state.errcode)
  }
  const moved = () => readdirSync(planted.folder).filter(name => /damaged.*Z(-\d+)?$/.test(name))
  return { ...planted, fault: state, moved }
}

describe('an error of the file', () => {
  test('that a fresh connection does not meet costs nothing', () => {
    const { get, kinds, state, moved } = failing(CORRUPT, 1)
    expect(get(sha('x')).ok).toBe(true)
    expect([kinds(), state.opened.length, moved()]).toEqual([['damaged_file'], 2, []])
    expect(state.opened.map(({ thorough }) => thorough)).toEqual([false, false])
  })

  test('that stays makes the file a damaged one, which is carried over at once', () => {
    const { commits, get, events, kinds, moved } = failing(CORRUPT, 2)
    // What is not found may still come.
    expect(get(sha('x'))).toMatchObject({ reason: 'busy' })
    expect(commits.state).toBe('salvaging')
    expect(events).toMatchObject([
      { kind: 'damaged_file', moved_to: null, detail: 'planted 11' },
      { kind: 'damaged_file', moved_to: expect.any(String), detail: 'planted 11' },
    ])
    expect(moved()).toHaveLength(1)
    while (commits.upkeep(false));
    expect(get(sha('x')).ok).toBe(true)
    expect([commits.state, kinds().at(-1)]).toEqual(['open', 'salvaged'])
  })

  test('that a new file shows too leaves no file open, and no third one', () => {
    const { commits, get, kinds, moved, state, fault } = failing(CORRUPT)
    expect(get(sha('x'))).toMatchObject({ reason: 'unavailable' })
    expect(commits.state).toBe('unavailable')
    expect([kinds(), moved().length, state.opened.length]).toEqual([
      ['damaged_file', 'damaged_file'],
      1,
      3,
    ])
    // The next upkeep opens what is there.
    fault.times = 0
    expect(commits.upkeep(true)).toBe(false)
    expect(commits.state).toBe('salvaging')
  })

  test('may begin a new file every five seconds', () => {
    const { commits, get, moved, state, events } = failing(CORRUPT)
    get(sha('x'))
    commits.upkeep(true)
    state.ms = 4999
    get(sha('x'))
    expect(moved()).toHaveLength(1)
    expect(events.findLast(({ kind }) => kind === 'damaged_file')).toMatchObject({ moved_to: null })
    commits.upkeep(true)
    state.ms = 5000
    get(sha('x'))
    expect(moved()).toHaveLength(2)
  })

  test('of a lost connection opens the file again, and never moves it', () => {
    const { get, kinds, state, moved, fault } = failing(LOST_CONNECTION, 1)
    expect(get(sha('x')).ok).toBe(true)
    expect([kinds(), state.opened.length]).toEqual([[], 2])
    fault.times = Number.POSITIVE_INFINITY
    // All pages are read, and they are sound.
    expect(get(sha('x'))).toMatchObject({ reason: 'unavailable' })
    expect([moved(), state.opened.length]).toEqual([[], 3])
  })

  test('that is odd may be a bug: the file is read, and stays if it is sound', () => {
    const { commits, get, kinds, state, moved } = failing(ODD)
    expect(get(sha('x'))).toMatchObject({ reason: 'failed', detail: "the store's file: planted 1" })
    expect([commits.state, kinds(), moved(), state.opened.length]).toEqual(['open', [], [], 2])
  })

  test('that is odd, with a file that is not sound, makes it a damaged one', () => {
    const { get, kinds, state, moved, fault } = failing(ODD, 1)
    state.opened[0]!.database.exec('UPDATE tenant SET bodies = 7')
    fault.times = 2
    get(sha('x'))
    expect([kinds(), moved().length]).toEqual([['damaged_file'], 1])
  })

  test('that is odd makes us read the whole file once a minute at most', () => {
    const { get, state, moved } = failing(ODD)
    get(sha('x'))
    state.opened.at(-1)!.database.exec('UPDATE tenant SET bodies = 7')
    state.ms = 59_999
    expect(get(sha('x'))).toMatchObject({ reason: 'failed' })
    expect(moved()).toEqual([])
    state.ms = 60_000
    get(sha('x'))
    expect(moved()).toHaveLength(1)
  })

  test.each([5, 8, 13, 14, 7])('%i is an answer, and mends nothing', errcode => {
    const { get, kinds, state } = failing(errcode)
    expect(get(sha('x')).ok).toBe(false)
    expect([kinds(), state.opened.length]).toEqual([[], 1])
  })

  test('of one who only looks moves nothing', async () => {
    const { store, folder } = await inlineStore()
    await keep(store, 'x')
    const { state, get, events } = plantedLedger({ folder, mustExist: true })
    state.before = sql => {
      if (sql === 'BEGIN') throw sqliteError(CORRUPT)
    }
    expect(get(sha('x'))).toMatchObject({ reason: 'unavailable' })
    expect(readdirSync(folder).filter(name => name.includes('damaged'))).toEqual([])
    expect(events.every(event => event.kind !== 'damaged_file' || event.moved_to === null)).toBe(
      true,
    )
  })
})

describe('an error while a damaged file is carried over', () => {
  test('takes the step back, and begins again', () => {
    const { commits, get, state, events, fault } = failing(CORRUPT, 2)
    get(sha('x'))
    fault.times = 0
    let isFailing = true
    state.before = sql => {
      if (sql === 'COMMIT' && isFailing) throw sqliteError(13)
    }
    expect(commits.upkeep(false)).toBe(false)
    expect(commits.state).toBe('salvaging')
    expect(events.at(-1)).toMatchObject({ kind: 'write_failed', reason: 'full' })
    isFailing = false
    while (commits.upkeep(false));
    expect(get(sha('x')).ok).toBe(true)
    expect(events.filter(({ kind }) => kind === 'salvaged')).toMatchObject([
      { bodies: 1, lost_bodies: 0 },
    ])
  })

  test('steps last as long as a transaction may', () => {
    const { commits, state, call, get } = plantedLedger({ groupCommitMs: 10 })
    for (const body of ['x', 'y', 'z']) {
      commits.write([call('put', { tenant: 'a', body: Buffer.from(body), mediaType: 'x' })])
    }
    state.before = (sql, connection) => {
      if (sql === 'BEGIN' && connection <= 2) throw sqliteError(CORRUPT)
    }
    get(sha('x'))
    let ms = 0
    Object.defineProperty(state, 'ms', { get: () => (ms += 6) })
    // Two rows, or ends of tables, a step.
    let steps = 1
    while (commits.upkeep(false)) steps++
    expect(steps).toBe(3)
    expect(get(sha('z')).ok).toBe(true)
  })
})

test('a file that cannot be opened again is tried by each upkeep', async () => {
  const { commits, state, get, kinds, fault } = failing(CORRUPT)
  state.refuse = () => sqliteError(14)
  expect(get(sha('x'))).toMatchObject({ reason: 'unavailable' })
  expect(commits.state).toBe('unavailable')
  expect(commits.upkeep(true)).toBe(false)
  expect(commits.state).toBe('unavailable')
  expect(kinds()).toEqual(['damaged_file', 'write_failed'])
  state.refuse = () => null
  fault.times = 0
  commits.upkeep(true)
  expect(commits.state).toBe('open')
  expect(get(sha('x')).ok).toBe(true)
})
