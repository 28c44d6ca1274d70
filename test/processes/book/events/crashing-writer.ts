import { EventFiles } from '../../../../src/book/events/event-files.ts'
import { SETTINGS } from '../../../unit/book/events/settings.ts'
import { factsOf } from '../../../unit/core/telemetry/events.ts'

/**
 * Writes events until it is killed: `node crashing-writer.ts FOLDER`. Each has its number in its
 * session as its size; what was written is said on stdout, a line for each write.
 */
const [folder = ''] = process.argv.slice(2)
const SESSIONS = 7

const files = new EventFiles(
  { folder, key: new Uint8Array(32), settings: { ...SETTINGS, rotate_bytes: 20_000 } },
  { now: Date.now, steadyNow: Date.now, random: Math.random },
)
await files.lookAfter()
// Names of sessions are of this process, so that its numbers start from 0.
const names = Array.from({ length: SESSIONS }, (_, i) =>
  (process.pid * 16 + i).toString(16).padStart(16, '0'),
)
for (let n = 0; ; n++) {
  for (const session_hash of names) {
    const facts = factsOf({ session_hash, response_chars: n })
    files.note({ kind: 'offer', tenant: 'tenant', at: Date.now(), session: null, facts })
  }
  await files.flush()
  const { written, failed, problem } = files.tally()
  if (problem !== null) throw problem
  if (written > 0) process.stdout.write(`written ${written}\n`)
  if (failed > 0) process.stdout.write(`failed ${failed}\n`)
}
