import { connect } from 'node:net'
import { answerIn, quantile } from '../http/wire.ts'
import { recordsOf } from '../sample-results.ts'

/**
 * Connections that are agents: each sends results of its session one after the other, and begins
 * another session now and then. A process of its own: `node load.ts '{"port":…}'` prints one JSON
 * line.
 */
export interface SessionPlan {
  readonly port: number
  readonly kind: 'plain' | 'new' | 'half'
  readonly connections: number
  readonly seconds: number
  readonly bodyBytes: number
  /** Results of a session; each session is another one. */
  readonly resultsOfSession: number
  /** Tells the sessions and bodies of this run from those of others. */
  readonly run: number
}

export interface SessionLoad {
  readonly requests: number
  readonly errors: number
  /** Answers that are a reference to a whole result. */
  readonly exact: number
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
}

const TEMPLATES = 64
/** What is replaced by numbers of the same length. */
const BODY = '#########b'
const CALL = '#########c'
const SESSION = '#########s'

interface Template {
  readonly bytes: Buffer
  readonly places: Readonly<Record<string, number>>
}

/** A request with places for the numbers of its body, call and session. */
function templateOf({ port, kind, bodyBytes }: SessionPlan, seed: number): Template {
  const content = `${recordsOf(bodyBytes * 0.85, seed).slice(0, -2)},\n  {"id": "${BODY}"}\n]`
  const facts = { session: SESSION, tool_call_id: CALL, tool: 'search', args: { query: BODY } }
  const body = JSON.stringify({ content, ...(kind === 'plain' ? {} : facts) })
  const head = `POST /v1/encode HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n`
  const text = `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const places = [BODY, CALL, SESSION].map(mark => [mark, text.indexOf(mark)] as const)
  return { bytes: Buffer.from(text), places: Object.fromEntries(places) }
}

function numbered({ bytes, places }: Template, numbers: Readonly<Record<string, number>>): Buffer {
  const request = Buffer.from(bytes)
  for (const [mark, at] of Object.entries(places)) {
    if (at !== -1) request.write(`${numbers[mark]}`.padStart(mark.length, '0'), at, 'latin1')
  }
  return request
}

async function run(plan: SessionPlan): Promise<SessionLoad> {
  const templates = Array.from({ length: TEMPLATES }, (_, seed) => templateOf(plan, seed + 1))
  const latencies: number[] = []
  let [errors, exact] = [0, 0]
  const started = performance.now()
  const deadline = started + plan.seconds * 1000

  const agent = (number: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(plan.port, '127.0.0.1')
      socket.setNoDelay(true)
      let buffered: Buffer = Buffer.alloc(0)
      let [sent, sentAt] = [0, 0]
      const send = () => {
        sentAt = performance.now()
        if (sentAt >= deadline) {
          socket.destroy()
          resolve()
          return
        }
        // A repeated body is that of the result before.
        const body = plan.kind === 'half' ? sent >> 1 : sent
        const first = plan.run * 100_000_000 + number * 1_000_000
        const session = first + Math.floor(sent / plan.resultsOfSession)
        const numbers = { [BODY]: first + body, [CALL]: first + sent, [SESSION]: session }
        sent++
        socket.write(numbered(templates[body % TEMPLATES]!, numbers))
      }
      socket.on('connect', send)
      socket.on('error', reject)
      socket.on('data', (chunk: Buffer) => {
        buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
        const answer = answerIn(buffered)
        if (answer === null) return
        latencies.push(performance.now() - sentAt)
        if (answer.status !== 200) errors++
        if (buffered.includes('"format":"ref@1"')) exact++
        buffered = Buffer.alloc(0)
        send()
      })
    })

  await Promise.all(Array.from({ length: plan.connections }, (_, number) => agent(number)))
  const seconds = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  return {
    requests: latencies.length,
    errors,
    exact,
    per_second: latencies.length / seconds,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}')))}\n`)
