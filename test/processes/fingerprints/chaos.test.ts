import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { dayOf, type Fingerprint } from '../../../src/core/fingerprints/fingerprint.ts'
import { mergeUploads } from '../../../src/core/fingerprints/merge-uploads.ts'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { bundledWorker } from '../../support/bundled-worker.ts'
import { runs } from '../../support/runs.ts'
import { row } from '../../unit/fingerprints/rows.ts'
import type { Command, Said } from './team-commands.ts'

/** Uploads and withdrawals; 10,000 in the long run. */
const STEPS = runs(600)
/** A new process takes longer than a hundred steps. */
const KILL_ONE_IN = STEPS > 1_000 ? 40 : 5
const HOST = fileURLToPath(bundledWorker(new URL('worker-team-host.ts', import.meta.url)))
const DAY = 86_400_000
const MEMBERS = ['ada', 'bob', 'eve', 'joe', 'kim', 'lea']
const ENDPOINTS = ['curl', 'git_log', 'npm_test']
/** Commands that are under way at once. */
const AT_ONCE = 12

const folder = mkdtempSync(join(tmpdir(), 'haversack-chaos-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function startHost() {
  const child: ChildProcess = spawn(process.execPath, [HOST, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, (said: Said | null) => void>()
  const lines = createInterface({ input: child.stdout! })
  lines.on('line', line => {
    const said = JSON.parse(line) as Said
    waiting.get(said.id)?.(said)
    waiting.delete(said.id)
  })
  child.stdin!.on('error', () => undefined)
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]).then(() => {
    for (const settle of waiting.values()) settle(null)
    waiting.clear()
  })
  return {
    child,
    ended,
    /** What became of it; `null` if the process was killed before it said. */
    do: (command: Command) =>
      new Promise<Said | null>(resolve => {
        waiting.set(command.id, resolve)
        child.stdin!.write(`${JSON.stringify(command)}\n`)
      }),
  }
}

/**
 * What a member may have in the store: its last upload that was accepted, or any that nobody heard
 * of since.
 */
interface Member {
  /** Rows and when they were uploaded; `null`: nothing. */
  possible: ({ readonly rows: readonly Fingerprint[]; readonly at: number } | null)[]
}

describe('teams in a process that is killed again and again', () => {
  it('lose no accepted upload, count none twice, and show no endpoint below five sessions', async () => {
    const random = createRandom(20_260_131)
    const start = Date.now()
    const members = new Map<string, Member>(MEMBERS.map(name => [name, { possible: [null] }]))
    let ahead = 0
    let host = startHost()
    let kills = 0
    let id = 0

    /**
     * Rows of the day, with five sessions more at each step, so that all that have enough are
     * accepted.
     */
    function makeRows(step: number): Fingerprint[] {
      const at = dayOf(start + ahead)
      return ENDPOINTS.map(endpoint_class => {
        const source_sessions = random(5) === 0 ? 1 + random(4) : 5 + 6 * step + random(2)
        return row({
          endpoint_class,
          source_sessions,
          call_count: source_sessions + random(100),
          first_seen_ms: at,
          last_seen_ms: at,
        })
      }).filter(() => random(4) > 0)
    }

    async function change(name: string, step: number): Promise<void> {
      const member = members.get(name)!
      const base = { tenant: 'acme', team: 'backend', ahead }
      id += 1
      if (random(5) === 0) {
        const said = await host.do({ id, ...base, act: 'withdraw', member: name })
        if (said === null) member.possible = [...member.possible, null]
        else if (said.code === undefined) member.possible = [null]
        else {
          expect(said.code).toBe('not_found')
          expect(member.possible).toContain(null)
          member.possible = [null]
        }
        return
      }
      const endpoints = makeRows(step)
      const now = { rows: endpoints.filter(each => each.source_sessions >= 5), at: start + ahead }
      const said = await host.do({
        id,
        ...base,
        act: 'upload',
        upload: { member: name, endpoints },
      })
      if (said === null) member.possible = [...member.possible, now]
      else {
        expect(said).toEqual({ id: said.id, accepted: now.rows.length })
        member.possible = [now]
      }
    }

    async function read(): Promise<void> {
      id += 1
      const said = await host.do({ id, tenant: 'acme', team: 'backend', ahead, act: 'read' })
      if (said === null) return
      const seen = said.document?.fingerprints ?? []
      for (const { source_sessions } of seen) expect(source_sessions).toBeGreaterThanOrEqual(5)
      // One choice of what may be there must be what is: then it is from now on.
      const choice = choices().find(chosen => matches(seen, chosen))
      expect(choice, 'the document is the merge of no possible uploads').toBeDefined()
      for (const [name, chosen] of choice!) members.get(name)!.possible = [chosen]
    }

    function choices(): [string, Member['possible'][number]][][] {
      let all: [string, Member['possible'][number]][][] = [[]]
      for (const [name, { possible }] of members) {
        all = all.flatMap(chosen =>
          possible.map(each => [...chosen, [name, each] as (typeof chosen)[number]]),
        )
      }
      return all
    }

    function matches(
      seen: readonly Fingerprint[],
      chosen: typeof choices extends () => (infer C)[] ? C : never,
    ): boolean {
      const uploads = chosen.flatMap(([, each]) =>
        each === null ? [] : [each.rows.map(row => ({ row, at: each.at }))],
      )
      const { fingerprints } = mergeUploads(uploads, start + ahead)
      return JSON.stringify(fingerprints.map(keyOf)) === JSON.stringify(seen.map(keyOf))
    }

    let step = 0
    while (step < STEPS) {
      const names = MEMBERS.filter(() => random(2) === 0)
      // At once, each of another member, so that what may be there is known.
      const under = names.map((name, index) => change(name, step + index))
      step += names.length
      if (random(KILL_ONE_IN) === 0) {
        await new Promise(resolve => setImmediate(resolve))
        if (random(2) === 0 && under.length > 0) await Promise.race(under)
        host.child.kill('SIGKILL')
        await host.ended
        await Promise.all(under)
        kills += 1
        host = startHost()
        await read()
      } else await Promise.all(under)
      const readers = Array.from({ length: 1 + random(AT_ONCE) }, read)
      await Promise.all(readers)
      if (random(8) === 0) ahead += random(6) * DAY
    }
    host.child.stdin!.end()
    await host.ended
    expect(kills).toBeGreaterThan(0)
  }, 3_600_000)
})

/** What is counted, and hardly comes out the same of other uploads. */
function keyOf({ endpoint_class, source_sessions, call_count, first_seen_ms }: Fingerprint) {
  return [endpoint_class, source_sessions, call_count, first_seen_ms]
}
