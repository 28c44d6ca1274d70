import { markdownTable } from '../support/markdown-table.ts'
import { type Server, startServer } from '../support/processes.ts'
import { measuredBy } from './throughput.ts'

const SESSIONS = 1_000_000
/** Jobs of one request, and requests under way at once. */
const JOBS = 200
const LANES = 8
/** Sessions of another user that were there before, and results of each. */
const OTHERS = 200

/**
 * A million sessions that are opened one after the other, a result too short to be kept in each, by
 * batches; before and after them the sessions of somebody else.
 */
export async function flood(): Promise<string> {
  const server = await startServer('sessions/measured-server.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'silent',
  })
  const rows: (string | number)[][] = []
  const row = async (what: string, since: number) => {
    const { resident_mib, delay_p99_ms, delay_max_ms } = await measuredBy(server)
    const seconds = (performance.now() - since) / 1000
    rows.push([what, seconds, await known(server), resident_mib, delay_p99_ms, delay_max_ms])
  }
  let since = performance.now()
  await openSessions(server, 'other', OTHERS)
  await row(`${OTHERS} sessions of somebody else`, since)
  for (const part of [1, 2, 3, 4]) {
    since = performance.now()
    await openSessions(server, `flood ${part}`, SESSIONS / 4)
    await row(`flood, ${(SESSIONS / 4).toLocaleString('en-US')} more`, since)
  }
  await server.stop()
  const header = [
    'what',
    'seconds',
    "somebody else's sessions still known",
    'resident MiB',
    'event loop delay p99 ms',
    'max ms',
  ]
  return markdownTable(header, rows)
}

async function openSessions({ port }: Server, name: string, count: number): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) {
      const first = next
      next = Math.min(count, next + JOBS)
      const jobs = Array.from({ length: next - first }, (_, i) => {
        return { op: 'encode', content: 'ok', session: `${name} ${first + i}` }
      })
      await post(port, { jobs })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

async function post(port: number, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
}

/** How many of somebody else's sessions the service still knows. */
async function known({ port }: Server): Promise<number> {
  let count = 0
  for (let i = 0; i < OTHERS; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/sessions/other%20${i}`)
    await response.text()
    if (response.status === 200) count++
  }
  return count
}
