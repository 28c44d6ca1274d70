import { type LoadResult, runClosedLoop } from './closed-loop.ts'
import { recordsOf } from './generated-results.ts'

/**
 * Connections that are agents: each sends results of its session one after the other, and begins
 * another session now and then. A process of its own: `node session-load.ts '{"urls":…}'` prints
 * one JSON line.
 */
export interface SessionPlan {
  /** Servers: each connection has one, or moves to the next with each result. */
  readonly urls: readonly string[]
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

const TEXTS = 64

async function run(plan: SessionPlan): Promise<SessionLoad> {
  const texts = Array.from({ length: TEXTS }, (_, seed) => recordsOf(plan.bodyBytes * 0.85, seed))
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
      const turn = plan.takesTurns === true ? connection + count : connection
      const request = {
        content: `${texts[body % TEXTS]!.slice(0, -2)},\n  {"id": "${first + body}"}\n]`,
        ...{ session: `${session}`, tool_call_id: `${first + count}` },
        ...{ tool: 'search', args: { query: first + body } },
      }
      return [`${plan.urls[turn % plan.urls.length]}/v1/encode`, JSON.stringify(request)]
    },
    onAnswer({ body }) {
      if (body.includes('"format":"ref@1"')) exact++
    },
  })
  return { ...result, exact }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}')))}\n`)
