import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { IndexBusyError } from '../../../src/core/sessions/index/lock.ts'
import { sessionKey } from '../../../src/core/sessions/index/session-index.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../../src/core/sessions/turn/shared-sessions.ts'
import { noteCompaction, readCompactions } from '../../../src/mcp/client/contexts/compactions.ts'
import { createContexts } from '../../../src/mcp/client/contexts/contexts.ts'

const HOUR_MS = 3_600_000
const { index } = attachSessions(
  createSharedSessions({ maxSessions: 50, maxEntries: 50 }, 1 << 16),
  { owner: MAIN_OWNER },
)

function contextsAt(clock: { now: number }, options: object = {}) {
  const terms = { index, tenant: 't', credential: null, now: () => clock.now }
  return createContexts({ ...terms, ...options })
}

describe('a context', () => {
  it('goes on as long as no hour passes between calls', () => {
    const clock = { now: 1e12 }
    const contexts = contextsAt(clock)
    const first = contexts.arrive('idle')
    clock.now += HOUR_MS
    expect(contexts.arrive('idle')).toMatchObject({ sequence: 2, epoch: first?.epoch })
    clock.now += HOUR_MS + 1
    const next = contexts.arrive('idle')
    expect(next?.sequence).toBe(1)
    expect(next?.epoch).not.toBe(first?.epoch)
  })

  it('is another one for another tenant or credential', () => {
    const clock = { now: 1e12 }
    const all = [{}, { tenant: 'u' }, { credential: 'k' }, { credential: 'l' }].map(options =>
      contextsAt(clock, options),
    )
    for (const contexts of all) expect(contexts.arrive('same')?.sequence).toBe(1)
    for (const contexts of all) expect(contexts.arrive('same')?.sequence).toBe(2)
  })

  it('counts nothing in a session that other processes share', () => {
    const contexts = contextsAt({ now: 1e12 })
    const state = { partition: 0, results: 4, openedMs: 0, timeMs: 0, isBroken: false }
    index.adopt(sessionKey('t', 'shared'), { ...state, epoch: 99, from: 0, to: 0 })
    expect(contexts.arrive('shared')).toBeNull()
    expect(index.summary(sessionKey('t', 'shared'))?.results).toBe(4)
  })

  it('begins again after a call that could not be counted', () => {
    let isBusy = false
    const busy = new Proxy(index, {
      get(target, name: keyof typeof index) {
        if (isBusy && name === 'begin') throw new IndexBusyError('busy')
        return (target[name] as () => unknown).bind(target)
      },
    })
    const contexts = contextsAt({ now: 1e12 }, { index: busy })
    const first = contexts.arrive('busy')
    isBusy = true
    expect(contexts.arrive('busy')).toBeNull()
    isBusy = false
    expect(contexts.arrive('busy')?.epoch).not.toBe(first?.epoch)
  })

  it('is not current any more once it was compacted', () => {
    const contexts = contextsAt({ now: 1e12 })
    const place = contexts.arrive('current')!
    expect(contexts.isCurrent('current', place)).toBe(true)
    contexts.lost('current')
    expect(contexts.isCurrent('current', place)).toBe(false)
  })
})

describe('compactions that hooks report', () => {
  it('change the stamps of their contexts, and old ones are removed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'haversack-compactions-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { stampOf } = readCompactions(folder)
    const stamps = () => [stampOf('a'), stampOf('b')]
    const [a0, b0] = stamps()
    noteCompaction(folder, 'a', Date.now())
    const [a1, b1] = stamps()
    expect([a1 === a0, b1 === b0]).toEqual([false, true])
    noteCompaction(folder, null, Date.now())
    const [a2, b2] = stamps()
    expect([a2 === a1, b2 === b1]).toEqual([false, false])
    const files = () => readdirSync(join(folder, 'mcp-contexts'))
    for (const file of files()) utimesSync(join(folder, 'mcp-contexts', file), 1, 1)
    noteCompaction(folder, 'c', Date.now())
    expect(files()).toHaveLength(1)
  })
})
