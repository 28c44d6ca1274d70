import { createRandom } from '../../src/lab/bill/statistics.ts'

/** A call of an agent and what the API answered. */
export interface ApiCall {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly content: string
}

/**
 * Work with an API as agents do it: orders with items, tickets, stock, and a pipeline that is
 * polled each minute. Made from a seed, because recorded conversations have hardly any.
 */
export function apiWork(seed = 1): readonly ApiCall[] {
  return [...orders(seed), ...tickets(seed), ...stock(seed), ...polls(seed)]
}

const TOWNS = ['Bergen', 'Tartu', 'Graz', 'Porto', 'Leeds']
const WORDS = ['refund', 'delay', 'login', 'invoice', 'address', 'damage']

function orders(seed: number): readonly ApiCall[] {
  const random = createRandom(seed)
  const order = (at: number) => ({
    id: `o${50_000 + at * 37}`,
    placed_on: day(at),
    promised_by: day(at + 6),
    delivered_on: random(4) === 0 ? null : day(at + 3 + random(5)),
    customer: { id: `c${1000 + random(90)}`, town: TOWNS[random(5)] },
    items: Array.from({ length: 1 + random(3) }, () => ({
      sku: `SKU-${100 + random(400)}`,
      quantity: 1 + random(4),
      unit_price: random(20_000) / 100,
    })),
    status: ['pending', 'shipped', 'delivered'][random(3)],
  })
  return [1, 2, 3].map(page => {
    const list = Array.from({ length: 40 }, (_, at) => order(page * 40 + at))
    return call('list_orders', { page }, { page, per_page: 40, total: 120, orders: list })
  })
}

function tickets(seed: number): readonly ApiCall[] {
  const random = createRandom(seed + 1)
  const ticket = (at: number) => ({
    id: 7000 + at,
    subject: `${WORDS[random(6)]} of order o${50_000 + random(120) * 37}`,
    opened_at: `${day(at)}T0${random(10)}:${10 + random(50)}:00Z`,
    assignee: random(3) === 0 ? null : { id: random(9), name: `Agent ${random(9)}` },
    tags: WORDS.slice(random(3), 3 + random(3)),
  })
  return ['open', 'closed'].map(state => {
    return call(
      'list_tickets',
      { state },
      Array.from({ length: 30 }, (_, at) => ticket(at)),
    )
  })
}

function stock(seed: number): readonly ApiCall[] {
  const random = createRandom(seed + 2)
  const levels = TOWNS.map((warehouse, at) => ({ warehouse, on_hand: 90 + at, reserved: 0 }))
  return Array.from({ length: 4 }, () => {
    for (const level of levels) if (random(2) === 0) level.reserved += random(9)
    const rows = levels.flatMap(level => {
      return Array.from({ length: 10 }, (_, at) => ({
        sku: `SKU-${at}-${level.warehouse}`,
        ...level,
      }))
    })
    return call('get_stock', {}, { as_of: day(20), levels: rows })
  })
}

/** How many times the pipeline is asked for. */
export const POLLS = 21

/** A pipeline of eight jobs, asked for each minute until it is done. */
export function polls(seed = 1): readonly ApiCall[] {
  const random = createRandom(seed + 3)
  const stages = ['build', 'build', 'test', 'test', 'test', 'scan', 'deploy', 'deploy']
  const jobs = stages.map((stage, at) => ({
    id: 880 + at,
    name: `${stage}-${['linux', 'macos', 'arm64'][at % 3]}`,
    stage,
    status: 'created',
    runner: null as string | null,
    image: `registry.example/ci/${stage}:${20 + (at % 3)}`,
    allow_failure: stage === 'scan',
    coverage: null,
    duration_min: 0,
  }))
  return Array.from({ length: POLLS }, (_, minute) => {
    const running = jobs.filter(({ status }) => status === 'running')
    for (const job of running) {
      job.duration_min++
      if (job.duration_min > 3 && random(3) === 0) job.status = 'success'
    }
    const next = jobs.find(({ status }) => status === 'created')
    if (next !== undefined && running.length < 2) {
      next.status = 'running'
      next.runner = `r-${1 + random(6)}`
    }
    const isDone = jobs.every(({ status }) => status === 'success')
    const pipeline = {
      id: 4471,
      ref: 'main',
      sha: '6f1c09d2ab43',
      triggered_by: 'merge request 1882',
      status: isDone ? 'success' : 'running',
      minute,
      jobs,
    }
    return call('get_pipeline', { id: 4471 }, pipeline)
  })
}

function call(tool: string, args: ApiCall['args'], result: unknown): ApiCall {
  return { tool, args, content: JSON.stringify(result) }
}

function day(at: number): string {
  return `2026-11-${String(1 + (at % 28)).padStart(2, '0')}`
}
