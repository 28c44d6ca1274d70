import { connect, type Socket } from 'node:net'
import { answerIn, quantile, requestsOf } from '../http/wire.ts'
import { type OpenPlan, type OpenResult, SLICE_MS, type Times } from './open-plan.ts'

/** After the last request was due. */
const PATIENCE_MS = 30_000

async function run(plan: OpenPlan): Promise<OpenResult> {
  const requests = requestsOf(plan)
  const total = Math.round(plan.per_second * plan.seconds)
  const idle: Socket[] = []
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
  function open(first: number): void {
    connections++
    const socket = connect(plan.port, '127.0.0.1')
    socket.setNoDelay(true)
    let current: number | null = null
    let buffered: Buffer = Buffer.alloc(0)
    const send = (dueAt: number) => {
      current = dueAt
      socket.write(requests[done % requests.length] as Buffer)
    }
    socket.on('data', (chunk: Buffer) => {
      buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
      const answer = answerIn(buffered)
      if (answer === null || current === null) return
      buffered = Buffer.alloc(0)
      settle(current, answer.status)
      current = null
      const next = overdue.shift()
      if (answer.last) socket.end()
      else if (next === undefined) idle.push(Object.assign(socket, { send }))
      else send(next)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      connections--
      if (current !== null) settle(current, null)
      const at = idle.indexOf(socket)
      if (at !== -1) idle.splice(at, 1)
    })
    send(first)
  }

  function launch(dueAt: number): void {
    const socket = idle.pop() as (Socket & { send(dueAt: number): void }) | undefined
    if (socket !== undefined) socket.send(dueAt)
    else if (connections < plan.max_connections) open(dueAt)
    else overdue.push(dueAt)
  }

  const timer = setInterval(() => {
    const now = performance.now()
    while (due < total && started + (due * 1000) / plan.per_second <= now) {
      launch(started + (due++ * 1000) / plan.per_second)
    }
    if (due === total) clearInterval(timer)
  }, 1)
  const impatience = setTimeout(finish, plan.seconds * 1000 + PATIENCE_MS)
  await finished
  clearTimeout(impatience)
  return {
    due: total,
    accepted: timesOf(accepted),
    refused: timesOf(refused),
    failed: failed + total - done,
    slices: Array.from(slices, slice => timesOf(slice ?? [])),
  }
}

function timesOf(latencies: number[]): Times {
  latencies.sort((a, b) => a - b)
  return {
    count: latencies.length,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
    max_ms: quantile(latencies, 1),
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}')))}\n`)
process.exit()
