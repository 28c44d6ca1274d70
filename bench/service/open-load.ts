import { LoadClient, requestsOf } from '../support/load-client.ts'
import { summarizeTimes } from '../support/statistics.ts'
import { type OpenPlan, type OpenResult, SLICE_MS } from './open-plan.ts'

/** After the last request was due. */
const PATIENCE_MS = 30_000

async function run(plan: OpenPlan): Promise<OpenResult> {
  const requests = requestsOf(plan)
  const total = Math.round(plan.per_second * plan.seconds)
  const idle: LoadClient[] = []
  const overdue: number[] = []
  const accepted: number[] = []
  const refused: number[] = []
  const slices: number[][] = []
  let connections = 0
  let failed = 0
  let due = 0
  let done = 0
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const started = performance.now()

  function settle(dueAt: number, status: number | null): void {
    const took = performance.now() - dueAt
    if (status === 200) {
      accepted.push(took)
      const slice = Math.floor((dueAt - started) / SLICE_MS)
      slices[slice] ??= []
      slices[slice].push(took)
    } else if (status === 429 || status === 503) refused.push(took)
    else failed++
    if (++done === total) finish()
  }

  /** A connection that takes the next overdue request whenever it is free. */
  async function occupy(client: LoadClient, first: number): Promise<void> {
    for (let dueAt: number | undefined = first; dueAt !== undefined; dueAt = overdue.shift()) {
      const request = requests[done % requests.length] as Buffer
      const answer = await client.ask(request).catch(() => null)
      settle(dueAt, answer?.status ?? null)
      if (answer === null) return
      if (answer.last) {
        client.end()
        return
      }
    }
    idle.push(client)
  }

  async function open(first: number): Promise<void> {
    connections++
    const client = new LoadClient(plan.port)
    await Promise.all([occupy(client, first), client.closed])
    connections--
  }

  function launch(dueAt: number): Promise<void> | void {
    let client = idle.pop()
    while (client?.isClosed) client = idle.pop()
    if (client !== undefined) return occupy(client, dueAt)
    if (connections < plan.max_connections) return open(dueAt)
    overdue.push(dueAt)
  }

  const timer = setInterval(() => {
    const now = performance.now()
    while (due < total && started + (due * 1000) / plan.per_second <= now) {
      void launch(started + (due++ * 1000) / plan.per_second)
    }
    if (due === total) clearInterval(timer)
  }, 1)
  const impatience = setTimeout(finish, plan.seconds * 1000 + PATIENCE_MS)
  await finished
  clearTimeout(impatience)
  return {
    due: total,
    accepted: summarizeTimes(accepted),
    refused: summarizeTimes(refused),
    failed: failed + total - done,
    slices: Array.from(slices, slice => summarizeTimes(slice ?? [])),
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}')))}\n`)
process.exit()
