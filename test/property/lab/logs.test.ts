import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readLines } from '../../../src/lab/logs/read-lines.ts'
import { noTally, readLog } from '../../../src/lab/logs/read-log.ts'
import { anyText } from '../../support/any-text.ts'
import {
  claudeCodeLog,
  codexLog,
  recordedLog,
  type SessionResult,
} from '../../support/log-writers.ts'
import { runs } from '../../support/runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'mine-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'log.jsonl')

function resultsOf(text: string) {
  writeFileSync(path, text)
  const tally = noTally()
  return [...readLog(path, tally)].map(({ context, isRestamped: _, ...result }) => ({
    ...result,
    partition: context.partition,
  }))
}

/** What each result's partition is, as it was when it was read. */
function partitionsOf(text: string): number[] {
  writeFileSync(path, text)
  const partitions: number[] = []
  for (const { context } of readLog(path, noTally())) partitions.push(context.partition)
  return partitions
}

const result = fc.record({
  tool: fc.stringMatching(/^[A-Za-z_]{1,12}$/),
  args: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.string()),
  text: anyText().map(text => text.toWellFormed()),
  is_error: fc.boolean(),
  model: fc.constantFrom('claude-a', 'claude-b'),
  compacted: fc.boolean(),
})

const session: fc.Arbitrary<SessionResult[]> = fc
  .array(result, { minLength: 1, maxLength: 8 })
  .map(all => all.map((each, i) => ({ ...each, call_id: `call_${i}`, ts_ms: 1_000 * (i + 1) })))

describe('logs', () => {
  it('say the same of a session in every dialect', () => {
    fc.assert(
      fc.property(session, all => {
        const [claude, codex, recorded] = [claudeCodeLog, codexLog, recordedLog].map(write =>
          write('s', all),
        )
        // Recordings do not have the times of calls.
        const timed = (took_ms: number | undefined) =>
          resultsOf(recorded!).map(each => ({ ...each, took_ms }))
        expect(timed(undefined)).toEqual(resultsOf(recorded!))
        expect(resultsOf(recorded!)).toHaveLength(all.length)
        const expected = timed(0)
        expect(resultsOf(claude!)).toEqual(expected)
        expect(resultsOf(codex!)).toEqual(expected)
        expect(partitionsOf(claude!)).toEqual(partitionsOf(recorded!))
        expect(partitionsOf(codex!)).toEqual(partitionsOf(recorded!))
      }),
      { numRuns: runs(60) },
    )
  })

  it('never throw, whatever bytes are in them, and every line is counted', () => {
    const line = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
      fc.json({ maxDepth: 3 }).map(text => Buffer.from(text)),
      fc
        .record({
          type: fc.constantFrom('user', 'assistant', 'system', 'response_item', 'compacted', 7),
          message: fc.anything({ maxDepth: 3 }),
          payload: fc.record({
            type: fc.constantFrom('function_call', 'function_call_output', 'custom_tool_call'),
            output: fc.anything({ maxDepth: 2 }),
            arguments: fc.anything({ maxDepth: 2 }),
            call_id: fc.anything({ maxDepth: 0 }),
          }),
          timestamp: fc.anything({ maxDepth: 0 }),
        })
        .map(value =>
          Buffer.from(JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? 1 : v))),
        ),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), lines => {
        const bytes = Buffer.concat(lines.flatMap(each => [each, Buffer.from('\n')]))
        writeFileSync(path, bytes)
        const tally = noTally()
        const found = [...readLog(path, tally)]
        const filled = bytes
          .toString('latin1')
          .split('\n')
          .filter(text => /[^ \t\r]/.test(text))
        expect(tally.lines).toBe(filled.length)
        const { not_utf8, not_json, not_an_object, too_long, torn, no_text } = tally.skipped
        const faults = not_utf8 + not_json + not_an_object + too_long + torn
        expect(tally.read + tally.other + faults).toBe(tally.lines)
        expect(found.length).toBe(tally.results - no_text)
      }),
      { numRuns: runs(200) },
    )
  })

  it('read the same whatever part of a line a limit cuts', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(30), { maxLength: 12 }),
        fc.integer({ min: 2, max: 40 }),
        (sizes, max) => {
          const lines = sizes.map(size => JSON.stringify({ text: 'x'.repeat(size) }))
          writeFileSync(path, lines.join('\n'))
          const read = [...readLines(path, max)]
          expect(read.map(each => (each.ok ? JSON.stringify(each.value) : each.fault))).toEqual(
            lines.map(text => (text.length > max ? 'too_long' : text)),
          )
        },
      ),
      { numRuns: runs(100) },
    )
  })
})
