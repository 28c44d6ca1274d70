import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newSegment, segmentFile, telemetryFolder } from '../../../src/book/events/layout.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { createTogether } from '../../../src/fingerprints/build/build-together.ts'
import { type BuildTasks, TASKS } from '../../../src/fingerprints/build/tasks.ts'
import { fingerprintsFolder, SPANS_FILE } from '../../../src/fingerprints/folder-files.ts'
import { readFingerprintFile } from '../../../src/fingerprints/span-file.ts'
import type { TaskThread } from '../../../src/runtime/task-thread.ts'
import { recordStore } from '../../support/record-store.ts'
import { someOf } from '../../support/short-runs.ts'
import { eventOf } from '../core/telemetry/events.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const KEY = new Uint8Array(32).fill(7)

/** Runs the tasks in this thread. */
const thread = {
  run: (_: string, name: keyof BuildTasks, input: never) => TASKS[name](input),
} as unknown as Pick<TaskThread<BuildTasks>, 'run'>

describe('fingerprints of several replicas', () => {
  let root: string
  let now: number
  let shared: ReturnType<typeof recordStore>
  let built: number[]
  let live: number
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'haversack-together-'))
    now = Date.UTC(2030, 0, 10, 12)
    shared = recordStore()
    built = []
    live = 3
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const folderOf = (i: number) => join(root, `${i}`)
  const replica = (i: number) => {
    const rates = {
      lease: async () => null,
      hold: async () => null,
      get replicas() {
        return live
      },
    }
    return createTogether({
      store: { ...shared.store, rates },
      dataDir: folderOf(i),
      folderOf: tenant => tenantFolder(KEY, tenant),
      tenants: () => ['acme'],
      intervalMs: HOUR,
      thread,
      now: () => now,
      onBuilt: ({ replicas }) => built.push(replicas),
    })
  }

  function event(i: number, session: number, at: number): void {
    const own = join(telemetryFolder(folderOf(i)), tenantFolder(KEY, 'acme'))
    const session_hash = session.toString(16).padStart(16, 'a')
    const file = segmentFile(own, newSegment(session_hash, at), false)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(eventOf({ session_hash, ts_ms: at }))}\n`)
  }

  async function spansOf(i: number) {
    const folder = join(fingerprintsFolder(folderOf(i)), tenantFolder(KEY, 'acme'))
    const spans = (await readFingerprintFile(join(folder, SPANS_FILE))) ?? []
    return spans.map(({ source_sessions, call_count }) => [source_sessions, call_count])
  }

  type Replica = ReturnType<typeof replica>
  /** Each has a turn, as often as it takes until all have told, one has built and all have taken. */
  async function round(replicas: readonly Replica[]): Promise<void> {
    for (let i = 0; i < 4; i++) {
      now += 6_000
      for (const each of replicas) await each.turn()
    }
  }

  it('count a session once, and wait for all who are there', async () => {
    for (const i of [0, 1, 2])
      for (let session = 0; session < 5; session++) event(i, session, now - DAY + i)
    const replicas = [0, 1, 2].map(replica)
    now += 6_000
    await replicas[0]!.turn()
    await replicas[1]!.turn()
    now += 6_000
    await replicas[0]!.turn()
    expect(built).toEqual([])
    await round(replicas)
    expect(built).toEqual([3])
    for (const i of [0, 1, 2]) expect(await spansOf(i)).toEqual([[5, 15]])
    // Once an interval, by whichever comes first.
    await round(replicas)
    expect(built).toEqual([3])
    now += HOUR
    await round(replicas)
    expect(built).toEqual([3, 3])
  })

  it('are not of four sessions, whatever parts they have', async () => {
    for (const i of [0, 1, 2])
      for (let session = 0; session < 4; session++) event(i, session, now - DAY + i)
    await round([0, 1, 2].map(replica))
    expect(built).toEqual([3])
    for (const i of [0, 1, 2]) expect(await spansOf(i)).toEqual([])
  })

  it('do without a replica that never tells, after three intervals', async () => {
    for (let session = 0; session < 5; session++) event(0, session, now - DAY)
    const replicas = [0, 1].map(replica)
    await round(replicas)
    now += 2 * HOUR
    await round(replicas)
    expect(built).toEqual([])
    now += HOUR
    await round(replicas)
    expect(built).toEqual([2])
    expect(await spansOf(1)).toEqual([[5, 5]])
  })

  it('keep what one that has ended had told', async () => {
    for (let session = 0; session < 5; session++) event(2, session, now - DAY)
    const [one, two, ended] = [0, 1, 2].map(replica)
    await ended!.turn()
    live = 2
    await round([one!, two!])
    expect(await spansOf(0)).toEqual([[5, 5]])
  })

  it.each(someOf(['all of it', 'the index', 'what was built', 'parts'] as const, 2))(
    'remember what was published if the store loses %s',
    async lost => {
      for (const i of [0, 1, 2])
        for (let session = 0; session < 5; session++) event(i, session, now - DAY + i)
      const replicas = [0, 1, 2].map(replica)
      await round(replicas)
      for (const name of [...shared.records.keys()]) {
        const isLost = {
          'all of it': true,
          'the index': name.includes('"index"'),
          'what was built': name.includes('"built"'),
          parts: /[0-9a-f]{12} \d+"/.test(name),
        }[lost]
        if (isLost === true) shared.records.delete(name)
      }
      // The same day with more sessions would give away those that were added.
      for (const i of [0, 1, 2])
        for (let session = 5; session < 11; session++) event(i, session, now - DAY + i)
      for (let hour = 0; hour < 4; hour++) {
        now += HOUR
        await round(replicas)
      }
      expect(built.length).toBeGreaterThan(2)
      for (const i of [0, 1, 2]) expect(await spansOf(i)).toEqual([[5, 15]])
    },
  )

  it.each(['all', 'what was built'])('hear from everyone again if %s was lost', async lost => {
    for (const i of [0, 1, 2])
      for (let session = 0; session < 5; session++) event(i, session, now - DAY + i)
    const replicas = [0, 1, 2].map(replica)
    await round(replicas)
    now += HOUR
    for (const name of [...shared.records.keys()])
      if (lost === 'all' || name.includes('"built')) shared.records.delete(name)
    // This one has a new folder, so it does not know what was published.
    const fresh = replica(3)
    live = 4
    for (let session = 5; session < 11; session++) event(3, session, now - DAY)
    await round([fresh])
    expect(built).toEqual([3])
    await round([...replicas, fresh])
    expect(built).toEqual([3, 4])
    expect(await spansOf(3)).toEqual([[5, 15]])
  })

  it('do not fail by what cannot be read', async () => {
    for (let session = 0; session < 5; session++) event(0, session, now - DAY)
    const replicas = [0, 1, 2].map(replica)
    await round(replicas)
    for (const [name, record] of shared.records)
      if (!/[0-9a-f]{12} \d+"/.test(name))
        shared.records.set(name, { ...record, value: Buffer.from('{"of":"a later version"}') })
    for (let hour = 0; hour < 4; hour++) {
      now += HOUR
      await round(replicas)
    }
    for (const i of [0, 1, 2]) expect(await spansOf(i)).toEqual([[5, 5]])
  })
})
