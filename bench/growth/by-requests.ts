import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeKey } from '../../src/access/key-record.ts'
import { LoadClient, postRequest, requestsOf, runClosedLoop } from '../support/load-client.ts'
import { measuredBy } from '../support/machine.ts'
import { type Server, startServer } from '../support/processes.ts'
import type { Measured } from '../support/session-server.ts'
import { type Curve, type Point, SHAPES } from './measure.ts'

const FLAT = 0.1
const LINEAR = 1.1
const AMOUNTS = [10, 100, 1e3, 1e4]
const ROUNDS = 3
const SECONDS = 2
const LANES = 8
/** Idle connections that are opened at the same time. */
const OPENING = 200
const PATH = '/v1/encode'

/** Processor time and resident memory of a service, by how many there are of something. */
export interface RequestCurves {
  /** The whole process, in nanoseconds a request of 2 KB over HTTP. */
  readonly time: Curve
  /** Bytes. */
  readonly room: Curve
}

/** Requests each with the next key of the keys file, by the keys in it; each key is a tenant's own. */
export async function requestsByKeys(folder: string, most: number): Promise<RequestCurves> {
  const costs: Cost[] = []
  for (const amount of AMOUNTS.filter(each => each <= most)) {
    const made = Array.from({ length: amount }, makeKey)
    const file = join(folder, `keys-${amount}.json`)
    const keys = made.map(({ id, sha256 }, i) => {
      return { id, sha256, tenant: `tenant-${i}`, scopes: ['encode'], created_at: 0 }
    })
    writeFileSync(file, JSON.stringify({ version: 1, keys }), { mode: 0o600 })
    const server = await startService({ HAVERSACK_KEYS_FILE: file })
    const requests = made.map(({ key }) => request(server, [`authorization: Bearer ${key}`]))
    costs.push({ amount, ...(await costOfRequests(server, requests)) })
    await server.stop()
  }
  return curvesOf('keys', costs)
}

/** Requests over a few connections, by the idle ones beside them. */
export async function requestsByConnections(folder: string, most: number): Promise<RequestCurves> {
  const file = join(folder, 'connections.toml')
  writeFileSync(file, `[limits]\nmax_connections = ${most + 2 * LANES}\n`)
  const server = await startService({ HAVERSACK_CONFIG: file })
  const costs: Cost[] = []
  const idle: LoadClient[] = []
  for (const amount of AMOUNTS.filter(each => each <= most)) {
    while (idle.length < amount) {
      const count = Math.min(OPENING, amount - idle.length)
      idle.push(...(await Promise.all(Array.from({ length: count }, () => open(server)))))
    }
    costs.push({ amount, ...(await costOfRequests(server, [request(server)])) })
  }
  const lost = idle.filter(client => client.isClosed).length
  for (const client of idle) client.destroy()
  await server.stop()
  if (lost > 0) throw new Error(`${lost} idle connections were ended`)
  return curvesOf('connections', costs)
}

interface Cost {
  readonly amount: number
  readonly ns: number
  readonly resident: number
}

const startService = (env: NodeJS.ProcessEnv) =>
  startServer('support/session-server.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'silent',
    ...env,
  })

function request({ port }: Server, headers: readonly string[] = []): Buffer {
  const content = SHAPES[0]!.make(2_000)
  return postRequest(port, PATH, Buffer.from(JSON.stringify({ content })), headers)
}

/** A connection over which one request was answered. */
async function open({ port }: Server): Promise<LoadClient> {
  const client = new LoadClient(port)
  await client.connected
  const [alive] = requestsOf({ port, path: '/livez', method: 'GET' })
  await client.ask(alive!)
  return client
}

/** The least of some rounds, after one that warms the service up. */
async function costOfRequests(server: Server, requests: readonly Buffer[]) {
  const costs: number[] = []
  let measured: Measured | undefined
  let next = 0
  for (let round = 0; round <= ROUNDS; round++) {
    await measuredBy(server)
    const load = await runClosedLoop({
      port: server.port,
      connections: LANES,
      seconds: SECONDS,
      request: () => requests[next++ % requests.length]!,
    })
    if (load.errors > 0) throw new Error(`${load.errors} requests failed`)
    measured = await measuredBy(server)
    if (round > 0) costs.push((measured.process_ms * 1e6) / load.requests)
  }
  return { ns: Math.min(...costs), resident: measured!.resident_mib * 2 ** 20 }
}

function curvesOf(by: string, costs: readonly Cost[]): RequestCurves {
  const time = costs.map(({ amount, ns }): Point => [amount, ns])
  const room = costs.map(({ amount, resident }): Point => [amount, resident])
  return {
    time: { name: 'request', by, goal: FLAT, points: time },
    room: { name: 'service', by, goal: LINEAR, points: room },
  }
}
