import { setImmediate as turn } from 'node:timers/promises'
import { createTelemetry } from '../../../../src/book/events/telemetry.ts'
import { SETTINGS } from '../../../unit/book/events/settings.ts'
import { factsOf } from '../../../unit/core/telemetry/events.ts'

/**
 * Writes events until it is killed: `node crashing-writer.ts FOLDER`. Each has its number in its
 * session as its size; what was written is said on stdout, a line for each write.
 */
const [folder = ''] = process.argv.slice(2)
const SESSIONS = 7
/** Events that are not written yet, at most. */
const MAX_WAITING = 100

let waiting = 0

const telemetry = createTelemetry({
  folder,
  key: new Uint8Array(32),
  settings: { ...SETTINGS, rotate_bytes: 20_000 },
  now: Date.now,
  steadyNow: Date.now,
  random: Math.random,
  onEvents(fate, count) {
    waiting -= count
    process.stdout.write(`${fate} ${count}\n`)
  },
  onProblem(error) {
    throw error
  },
})
// Names of sessions are of this process, so that its numbers start from 0.
const names = Array.from({ length: SESSIONS }, (_, i) =>
  (process.pid * 16 + i).toString(16).padStart(16, '0'),
)
for (let n = 0; ; n++) {
  for (const session_hash of names) {
    telemetry.record('tenant', () => factsOf({ session_hash, response_chars: n }))
    waiting++
  }
  do await turn()
  while (waiting > MAX_WAITING)
}
