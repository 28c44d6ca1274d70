import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { noTally } from '../../../../src/book/events/read-lines.ts'
import { runs } from '../../../support/runs.ts'
import {
  eventsIn,
  filesIn,
  summariesIn,
  temporaryFolder,
  testTelemetry,
} from '../../../unit/book/events/writer.ts'

const WRITER = fileURLToPath(new URL('crashing-writer.ts', import.meta.url))
const ROUNDS = runs(4)

/**
 * Kills a writer after some of its writes; resolves to the number of events that it said were
 * written.
 */
async function writeAndKill(folder: string, writes: number): Promise<number> {
  const child = spawn(process.execPath, [WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'close')
  let seen = 0
  let written = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [fate, count] = line.split(' ')
    // What else is in the pipe was written too.
    if (fate === 'written') written += Number(count)
    if (++seen === writes) child.kill('SIGKILL')
  }
  expect(await exited).toEqual([null, 'SIGKILL'])
  return written
}

describe('a writer that is killed', () => {
  it('loses nothing that it had written, and leaves nothing that cannot be read', async () => {
    const folder = temporaryFolder()
    let acknowledged = 0
    for (let round = 0; round < ROUNDS; round++) {
      acknowledged += await writeAndKill(folder, randomInt(1, 200))
      const tally = noTally()
      const events = await eventsIn(folder, tally)
      expect(events.length).toBeGreaterThanOrEqual(acknowledged)
      // A write that was under way may have left part of a line at the end of its file.
      expect(tally.skipped).toEqual({ ...noTally().skipped, torn: tally.skipped.torn })
      expect(tally.unreadable).toBe(0)
      const bySession = Map.groupBy(events, ({ session_hash }) => session_hash)
      for (const own of bySession.values()) {
        const numbers = own.map(({ response_chars }) => response_chars).sort((a, b) => a - b)
        expect(numbers).toEqual(numbers.map((_, index) => index))
      }
    }
    const next = testTelemetry({}, { folder, startMs: Date.now() + 3_600_000 })
    await next.close()
    expect(next.problems).toEqual([])
    expect(filesIn(folder).filter(({ name }) => name.includes('.open.'))).toEqual([])
    const summed = (await summariesIn(folder)).reduce((sum, each) => sum + each.total_events, 0)
    expect(summed).toBe((await eventsIn(folder)).length)
  })
})
