import { startRedis } from '../../test/support/redis-server.ts'
import { corpusSessions } from '../support/corpus-sessions.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { type Server, startServer } from '../support/processes.ts'

interface Answer {
  readonly content: string
  readonly format: string
  readonly tokens: { readonly baseline: number; readonly final: number }
  readonly savings: { readonly dedup_tokens: number }
}

interface Sums {
  results: number
  baseline: number
  final: number
  references: number
  decoded: number
}

/** Results of one session at most, so that long ones do not take all the time. */
const MAX_RESULTS = 400
/** Sessions that are played at the same time. */
const LANES = 4

/**
 * The recorded sessions of a corpus through one service, and through three on one Redis, of which
 * each result goes to the next one. Every answer is decoded by another replica than wrote it.
 */
export async function movingSessions(corpus: string, sample: number): Promise<string> {
  const redis = await startRedis()
  const env = { HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'silent' }
  const start = (more: NodeJS.ProcessEnv) =>
    startServer('support/session-server.ts', { ...env, ...more })
  const shared = { HAVERSACK_REDIS_URL: redis.url }
  const alone = await start({})
  const replicas = await Promise.all([start(shared), start(shared), start(shared)])
  try {
    const one = await play(corpus, sample, [alone])
    const three = await play(corpus, sample, replicas)
    const row = (label: string, { results, baseline, final, references, decoded }: Sums) => [
      label,
      results,
      baseline,
      baseline - final,
      references,
      `${decoded}/${results}`,
    ]
    const ratio = ((100 * three.references) / one.references).toFixed(2)
    const header = ['', 'results', 'tokens', 'saved', 'by references', 'decoded']
    const table = markdownTable(header, [row('one process', one), row('three replicas', three)])
    return `${table}\n\nSaved by references with three replicas: ${ratio} % of one process.`
  } finally {
    for (const server of [alone, ...replicas]) await server.stop()
    await redis.stop()
  }
}

async function play(corpus: string, sample: number, servers: readonly Server[]): Promise<Sums> {
  const sums: Sums = { results: 0, baseline: 0, final: 0, references: 0, decoded: 0 }
  const waiting = [...corpusSessions(corpus)].filter((_, i) => i % sample === 0)
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [session, results] = next
      for (const [i, result] of results.slice(0, MAX_RESULTS).entries()) {
        if (result.compacted)
          await post(at(servers, i), `/v1/sessions/${id(session)}/compaction`, {})
        await encodeAndDecode({ session: id(session), result, i }, servers, sums)
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return sums
}

type Result = NonNullable<ReturnType<ReturnType<typeof corpusSessions>['get']>>[number]

async function encodeAndDecode(
  { session, result, i }: { readonly session: string; readonly result: Result; readonly i: number },
  servers: readonly Server[],
  sums: Sums,
): Promise<void> {
  const { tool, args, text: content, is_error, call_id } = result
  const request = { session, tool, args, content, tool_call_id: call_id }
  const body = is_error === true ? { ...request, is_error } : request
  const answer = (await post(at(servers, i), '/v1/encode', body)) as Answer
  sums.results++
  sums.baseline += answer.tokens.baseline
  sums.final += answer.tokens.final
  sums.references += answer.savings.dedup_tokens
  const encoded = { content: answer.content, format: answer.format, session }
  const decoded = (await post(at(servers, i + 1), '/v1/decode', encoded)) as { content: string }
  if (decoded.content === content || isSameJson(decoded.content, content)) sums.decoded++
}

/** JSON is given back in its compact form. */
function isSameJson(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}

function at(servers: readonly Server[], i: number): Server {
  return servers[i % servers.length]!
}

/** A name that a path can have. */
function id(session: string): string {
  return Buffer.from(session).toString('base64url').slice(0, 100)
}

async function post({ port }: Server, path: string, body: object): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status === 404) return {}
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
