import type { Random } from '../../src/lab/bill/statistics.ts'
import { allPages, type Page, pageOf, REGIONS, TIERS, writer } from './api-task.ts'
import { answer, json, type Solving } from './solving.ts'
import { type TaskKind, taskOf } from './task.ts'
import { between, personName, pick } from './words.ts'

const STATUSES = ['paid', 'open', 'refunded', 'cancelled']

const twoDigits = (n: number) => String(n).padStart(2, '0')
const day = (random: Random) =>
  `2026-${twoDigits(between(random, 1, 9))}-${twoDigits(between(random, 1, 28))}`

type Customer = ReturnType<typeof makeCustomers>[number]
type Order = ReturnType<typeof makeOrders>[number]

function makeCustomers(random: Random) {
  return Array.from({ length: between(random, 70, 130) }, (_, at) => {
    const name = personName(random)
    const email = `${name.toLowerCase().replace(' ', '.')}${at}@example.com`
    return {
      ...{ id: `cus_${4000 + at * 7}`, name },
      ...{ region: pick(random, REGIONS), tier: pick(random, TIERS) },
      ...{ email: random(5) === 0 ? null : email, since: day(random) },
    }
  })
}

function makeOrders(random: Random, customers: readonly Customer[]) {
  return Array.from({ length: between(random, 150, 320) }, (_, at) => ({
    ...{ id: `ord-${10_000 + at * 3}`, customer_id: pick(random, customers).id },
    ...{ status: pick(random, STATUSES), total_cents: between(random, 500, 90_000) },
    placed_at: `${day(random)}T0${random(10)}:${between(random, 10, 59)}:00Z`,
    items: Array.from({ length: random(3) }, () => {
      return { sku: `SKU-${between(random, 100, 140)}`, qty: between(random, 1, 9) }
    }),
  }))
}

const sumOf = (orders: readonly Order[], customer: string, status: string) =>
  orders
    .filter(order => order.customer_id === customer && order.status === status)
    .reduce((sum, order) => sum + order.total_cents, 0)

/** Sums of orders by customer: two lists in pages, joined. */
export const joinTask: TaskKind = {
  name: 'join',
  make(random) {
    const customers = makeCustomers(random)
    const orders = makeOrders(random, customers)
    const [write, size] = [writer(random), pick(random, [20, 30])]
    for (;;) {
      const [region, tier] = [pick(random, REGIONS), pick(random, TIERS)]
      const status = pick(random, STATUSES)
      const [first, second] = customers
        .filter(each => each.region === region && each.tier === tier)
        .map(({ id, name }) => ({ name, sum: sumOf(orders, id, status) }))
        .toSorted((a, b) => b.sum - a.sum)
      if (first === undefined || second === undefined || first.sum === second.sum) continue
      const prompt = `An API has /customers and /orders, both in pages (?page=1). Of the customers of region ${region} and tier ${tier}, who has the highest sum of total_cents over orders with status ${status}? Answer with the customer's name, a space, and the sum.`
      const api = (path: string) => {
        const [, name] = /^\/(customers|orders)/.exec(path) ?? []
        const page = pageOf<unknown>(name === 'orders' ? orders : customers, path, size)
        return name === undefined || page === null ? null : write(page)
      }
      return taskOf(prompt, `${first.name} ${first.sum}`, { createApi: () => api })
    }
  },
  prompt: /region (\w+) and tier (\w+), .* status (\w+)\?/,
  *solve(region = '', tier = '', status = ''): Solving<void> {
    const pages = yield* allPages('/customers', (items: readonly Customer[], page) =>
      items
        .filter(each => each.region === region && each.tier === tier)
        .map(({ id }) => ({ id, page })),
    )
    const customers = pages.flat()
    const sums = yield* allPages('/orders', (items: readonly Order[]) =>
      customers.map(({ id }) => sumOf(items, id, status)),
    )
    const total = (at: number) => sums.reduce((sum, page) => sum + page[at]!, 0)
    const all = customers.map((each, at) => ({ ...each, sum: total(at) }))
    const best = all.reduce((a, b) => (b.sum > a.sum ? b : a))
    // The name is where the customer was seen: the first calls are the pages of customers.
    const name = yield* json(best.page - 1, ({ items }: Page<Customer>) => {
      return items.find(({ id }) => id === best.id)?.name ?? ''
    })
    yield* answer(`${name} ${best.sum}`)
  },
}
