import { hash } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { selectPart } from '../../../src/core/parts/select-part.ts'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { Commits } from '../../../src/store/sqlite/commits.ts'
import type { OperationName } from '../../../src/store/sqlite/protocol.ts'
import { settle } from '../../../src/store/sqlite/settings.ts'
import type { Result, StoredBody, StoredPart } from '../../../src/store/store.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import { runs } from '../../support/runs.ts'
import { DAMAGES, rememberOlder, spoil } from './damage.ts'
import { acknowledged, startWriter } from './killed.ts'
import { bodyOf, MAX_BYTES } from './worker-writer.ts'

/**
 * A process is killed, its files are damaged, and the store is opened again. Each damage is done at
 * least once; `TEST_RUNS=28` is a long run.
 */
const ROUNDS = Math.max(DAMAGES, runs(DAMAGES))
/** Damages that are done to copies of what one killed process left. */
const ROUNDS_A_KILL = 36
const FIRST_LINE = { kind: 'lines', range: { first: 1, last: 1 } } as const

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What a killed writer had been told is kept. */
async function killedWriter(folder: string, seed: number): Promise<string[]> {
  const random = createRandom(seed)
  const writer = startWriter(folder, `r${seed}`)
  await writer.said(10 + random(30))
  rememberOlder(join(folder, 'store.sqlite'))
  await writer.said(50 + random(50))
  writer.child.kill('SIGKILL')
  await writer.ended
  return acknowledged(writer.lines)
}

function openCommits(folder: string, events: StoreEvent[]): Commits {
  return new Commits({
    settings: settle({ folder, maxBytes: MAX_BYTES, groupCommitMs: 50 }),
    clock: Date.now,
    stopwatch: () => performance.now(),
    onEvent: event => events.push(event),
  })
}

interface Found {
  readonly wrong: string[]
  readonly lost: string[]
  /** Those about which the answer says nothing. */
  readonly unsaid: string[]
}

function readBack(commits: Commits, names: readonly string[]): Found {
  const found: Found = { wrong: [], lost: [], unsaid: [] }
  const read = <T>(op: OperationName, ...args: unknown[]) =>
    commits.read({ op, args, bytes: 0 }) as Result<T>
  for (const name of names) {
    const body = bodyOf(name)
    const reference = { tenant: 'a', ref: hash('sha256', body) }
    const got = read<StoredBody>('get', reference)
    const line = read<StoredPart>('part', reference, FIRST_LINE)
    if (got.ok) {
      const isRight = Buffer.compare(got.body, body) === 0 && got.media_type === 'x'
      if (!isRight) found.wrong.push(name)
    } else {
      found.lost.push(name)
      if (got.reason !== 'gone') found.unsaid.push(name)
    }
    const first = selectPart(body, FIRST_LINE)
    if (line.ok && Buffer.compare(line.part.content, first.content) !== 0) found.wrong.push(name)
  }
  return found
}

/**
 * Opens what is left, puts one body, and reads all; `ms` of processor time until the put was kept.
 */
function reopen(folder: string, names: readonly string[]) {
  const events: StoreEvent[] = []
  const before = process.cpuUsage()
  const commits = openCommits(folder, events)
  const item = { tenant: 'a', body: Buffer.from(folder), mediaType: 'x' }
  const [put] = commits.write([{ op: 'put', args: [item], bytes: 100 }])
  const { user, system } = process.cpuUsage(before)
  while (commits.upkeep(true));
  const { state } = commits
  const found = readBack(commits, names)
  commits.close()
  return { ms: (user + system) / 1000, put, state, events, ...found }
}

test(
  `after each of ${ROUNDS} damages puts work, nothing is wrong, and losses are named`,
  async () => {
    const sum = { kept: 0, lost: 0, moved: 0 }
    const times: number[] = []
    let killed = { folder: '', names: [] as string[] }
    for (let seed = 0; seed < ROUNDS; seed++) {
      if (seed % ROUNDS_A_KILL === 0) {
        const left = tempFolder()
        killed = { folder: left, names: await killedWriter(left, seed) }
      }
      const folder = tempFolder()
      cpSync(killed.folder, folder, { recursive: true })
      const label = `seed ${seed}, ${spoil(join(folder, 'store.sqlite'), seed)}`
      const after = reopen(folder, killed.names)
      expect(after.put, label).toMatchObject({ ok: true })
      expect(after.state, label).toBe('open')
      expect(after.wrong, label).toEqual([])
      if (after.unsaid.length > 0) expect(after.events, label).not.toEqual([])
      const kinds = after.events.map(({ kind }) => kind)
      expect(kinds, label).not.toContain('bug')
      const again = reopen(folder, [])
      expect(again.events, label).toEqual([])
      times.push(after.ms)
      sum.kept += killed.names.length - after.lost.length
      sum.lost += after.lost.length
      sum.moved += kinds.includes('damaged_file') ? 1 : 0
      rmSync(folder, { recursive: true, force: true })
    }
    times.sort((a, b) => a - b)
    const most = Math.round(times.at(-1) ?? 0)
    const median = Math.round(times[times.length >> 1] ?? 0)
    console.log(
      `${ROUNDS} damages: ${sum.kept} bodies kept, ${sum.lost} lost, ${sum.moved} files moved aside; ` +
        `first put after ${median} ms of processor time, ${most} ms at most`,
    )
  },
  60_000 + ROUNDS * 10_000,
)
