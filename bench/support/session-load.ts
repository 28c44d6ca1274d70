import { type LoadResult, postRequest, runClosedLoop } from './load-client.ts'
import { recordsOf } from './sample-results.ts'

/**
 * Connections that are agents: each sends results of its session one after the other, and begins
 * another session now and then. A process of its own: `node load.ts '{"port":…}'` prints one JSON
 * line.
 */
export interface SessionPlan {
  readonly port: number
  /** Servers besides that of `port`: each session has one, or moves to the next with each result. */
  readonly otherPorts?: readonly number[]
  readonly takesTurns?: boolean
  readonly connections: number
  readonly seconds: number
  readonly bodyBytes: number
  /** Results of a session; each session is another one. */
  readonly resultsOfSession: number
  /** Tells the sessions and bodies of this run from those of others. */
  readonly run: number
}

export interface SessionLoad extends LoadResult {
  /** Answers that are a reference to a whole result. */
  readonly exact: number
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
function templateOf({ port, bodyBytes }: SessionPlan, seed: number): Template {
  const content = `${recordsOf(bodyBytes * 0.85, seed).slice(0, -2)},\n  {"id": "${BODY}"}\n]`
  const facts = { session: SESSION, tool_call_id: CALL, tool: 'search', args: { query: BODY } }
  const body = JSON.stringify({ content, ...facts })
  const bytes = postRequest(port, '/v1/encode', Buffer.from(body))
  const places = [BODY, CALL, SESSION].map(mark => [mark, bytes.indexOf(mark)] as const)
  return { bytes, places: Object.fromEntries(places) }
}

function numbered({ bytes, places }: Template, numbers: Readonly<Record<string, number>>): Buffer {
  const request = Buffer.from(bytes)
  for (const [mark, at] of Object.entries(places)) {
    request.write(`${numbers[mark]}`.padStart(mark.length, '0'), at, 'latin1')
  }
  return request
}

async function run(plan: SessionPlan): Promise<SessionLoad> {
  const templates = Array.from({ length: TEMPLATES }, (_, seed) => templateOf(plan, seed + 1))
  const sent = new Array<number>(plan.connections).fill(0)
  let exact = 0
  const result = await runClosedLoop({
    ...plan,
    request(connection) {
      const count = sent[connection]!++
      // Half of the bodies are those of the result before.
      const body = count >> 1
      const first = plan.run * 100_000_000 + connection * 1_000_000
      const session = first + Math.floor(count / plan.resultsOfSession)
      const numbers = { [BODY]: first + body, [CALL]: first + count, [SESSION]: session }
      return numbered(templates[body % TEMPLATES]!, numbers)
    },
    onAnswer({ bytes }) {
      if (bytes.includes('"format":"ref@1"')) exact++
    },
  })
  return { ...result, exact }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}')))}\n`)
