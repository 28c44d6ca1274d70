import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import {
  allPages,
  type Page,
  paged,
  REGIONS,
  type Route,
  TIERS,
  taskOf,
  writer,
} from './api-task.ts'
import { answer, json, type Solving } from './solving.ts'
import type { TaskKind } from './task.ts'
import { between, personName, pick } from './words.ts'

const STATUSES = ['paid', 'open', 'refunded', 'cancelled']

interface Customer {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly tier: string
  readonly email: string | null
  readonly since: string
}

interface Order {
  readonly id: string
  readonly customer_id: string
  readonly status: string
  readonly total_cents: number
  readonly placed_at: string
  readonly items: readonly { readonly sku: string; readonly qty: number }[]
}

const day = (random: Random) =>
  `2026-${String(between(random, 1, 9)).padStart(2, '0')}-${String(between(random, 1, 28)).padStart(2, '0')}`

function makeCustomers(random: Random): readonly Customer[] {
  return Array.from({ length: between(random, 70, 130) }, (_, at) => {
    const name = personName(random)
    return {
      id: `cus_${4000 + at * 7}`,
      name,
      region: pick(random, REGIONS),
      tier: pick(random, TIERS),
      email: random(5) === 0 ? null : `${name.toLowerCase().replace(' ', '.')}${at}@example.com`,
      since: day(random),
    }
  })
}

function makeOrders(random: Random, customers: readonly Customer[]): readonly Order[] {
  return Array.from({ length: between(random, 150, 320) }, (_, at) => ({
    id: `ord-${10_000 + at * 3}`,
    customer_id: pick(random, customers).id,
    status: pick(random, STATUSES),
    total_cents: between(random, 500, 90_000),
    placed_at: `${day(random)}T0${random(10)}:${between(random, 10, 59)}:00Z`,
    items: Array.from({ length: random(3) }, () => ({
      sku: `SKU-${between(random, 100, 140)}`,
      qty: between(random, 1, 9),
    })),
  }))
}

/** Sums of orders by customer: two lists in pages, joined. */
export const joinTask: TaskKind = {
  name: 'join',
  make(random) {
    const customers = makeCustomers(random)
    const orders = makeOrders(random, customers)
    const [write, size] = [writer(random), pick(random, [20, 30])]
    for (;;) {
      const chosen = [pick(random, REGIONS), pick(random, TIERS), pick(random, STATUSES)] as const
      const [region, tier, status] = chosen
      const of = customers.filter(each => each.region === region && each.tier === tier)
      const sums = of
        .map(({ id, name }) => ({ id, name, sum: sumOf(orders, id, status) }))
        .toSorted((a, b) => b.sum - a.sum)
      if (sums.length < 2 || sums[0]!.sum === sums[1]!.sum) continue
      const prompt = `An API has /customers and /orders, both in pages (?page=1). Of the customers of region ${region} and tier ${tier}, who has the highest sum of total_cents over orders with status ${status}? Answer with the customer's name, a space, and the sum.`
      const route: Route = path => {
        const list = path.startsWith('/customers')
          ? customers
          : path.startsWith('/orders')
            ? orders
            : []
        const page = paged(list as unknown as readonly Json[], path, size)
        return page === null ? null : write(page)
      }
      return taskOf(prompt, `${sums[0]!.name} ${sums[0]!.sum}`, () => route)
    }
  },
  solve(prompt) {
    const found = /region (\w+) and tier (\w+), .* status (\w+)\?/.exec(prompt)
    return found === null ? null : solveJoin(found[1]!, found[2]!, found[3]!)
  },
}

const sumOf = (orders: readonly Order[], customer: string, status: string) =>
  orders
    .filter(order => order.customer_id === customer && order.status === status)
    .reduce((sum, order) => sum + order.total_cents, 0)

function* solveJoin(region: string, tier: string, status: string): Solving<void> {
  const made = { calls: 0 }
  const pages = yield* allPages(
    '/customers',
    (items: readonly Customer[], call) =>
      items
        .filter(each => each.region === region && each.tier === tier)
        .map(({ id }) => ({ id, call })),
    made,
  )
  const customers = pages.flat()
  const sums = yield* allPages(
    '/orders',
    (items: readonly Order[]) => customers.map(({ id }) => sumOf(items, id, status)),
    made,
  )
  const all = customers.map((each, at) => ({
    ...each,
    sum: sums.reduce((sum, page) => sum + page[at]!, 0),
  }))
  const best = all.reduce((a, b) => (b.sum > a.sum ? b : a))
  // The name is where the customer was seen.
  const name = yield* json(
    best.call,
    ({ items }: Page<Customer>) => items.find(({ id }) => id === best.id)?.name ?? '',
  )
  yield* answer(`${name} ${best.sum}`)
}
