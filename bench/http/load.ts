import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/**
 * A closed-loop load on loopback, in a process of its own: `node load.ts '{"port":…}'` prints one JSON
 * line. Raw sockets and ready-made requests, so that it takes as little of the shared cores as it can.
 */
export interface LoadPlan {
  readonly port: number
  readonly path: string
  readonly method: 'GET' | 'POST'
  /** A file of request bodies, a JSON text a line; none for GET. */
  readonly bodies?: string
  readonly connections: number
  readonly seconds: number
  /** Pause before each request of a connection, in milliseconds. */
  readonly pauseMs?: number
}

export interface LoadResult {
  readonly requests: number
  readonly errors: number
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
}

const HEAD_END = Buffer.from('\r\n\r\n')

function requestsOf({ method, path, port, bodies }: LoadPlan): Buffer[] {
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
  if (bodies === undefined) return [Buffer.from(`${head}\r\n`)]
  const lines = readFileSync(bodies, 'utf8').split('\n').filter(Boolean)
  return lines.map(line =>
    Buffer.from(
      `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(line)}\r\n\r\n${line}`,
    ),
  )
}

const LENGTH = Buffer.from('content-length: ')
const OK = Buffer.from('HTTP/1.1 200')
const LINE_END = 0x0d

/** Length of the response at the head of `bytes` once it is complete, and whether it is a 200. */
function responseEnd(bytes: Buffer): { end: number; ok: boolean } | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return null
  // Both spellings that Node's servers use.
  const at = Math.max(bytes.indexOf(LENGTH), bytes.indexOf('Content-Length: '))
  let length = 0
  for (let i = at + LENGTH.length; at !== -1 && bytes[i] !== LINE_END; i++) {
    length = length * 10 + (bytes[i] as number) - 0x30
  }
  const end = headEnd + HEAD_END.length + length
  return bytes.length < end
    ? null
    : { end, ok: bytes.compare(OK, 0, OK.length, 0, OK.length) === 0 }
}

async function run(plan: LoadPlan): Promise<LoadResult> {
  const requests = requestsOf(plan)
  const latencies: number[] = []
  let errors = 0
  let next = 0
  const started = performance.now()
  const deadline = started + plan.seconds * 1000

  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket: Socket = connect(plan.port, '127.0.0.1')
      socket.setNoDelay(true)
      let buffered: Buffer = Buffer.alloc(0)
      let sentAt = 0
      const send = () => {
        if (performance.now() >= deadline) {
          socket.destroy()
          resolve()
          return
        }
        sentAt = performance.now()
        socket.write(requests[next++ % requests.length] as Buffer)
      }
      socket.on('connect', send)
      socket.on('error', reject)
      socket.on('data', (chunk: Buffer) => {
        buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
        const response = responseEnd(buffered)
        if (response === null) return
        latencies.push(performance.now() - sentAt)
        if (!response.ok) errors++
        buffered = Buffer.alloc(0)
        if (plan.pauseMs === undefined) send()
        else setTimeout(send, plan.pauseMs)
      })
    })

  await Promise.all(Array.from({ length: plan.connections }, client))
  const seconds = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(share * (latencies.length - 1))] ?? 0
  return {
    requests: latencies.length,
    errors,
    per_second: latencies.length / seconds,
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: at(1),
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}')))}\n`)
