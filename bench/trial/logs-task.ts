import type { Random } from '../../src/lab/bill/statistics.ts'
import { api, pageOf, TIERS, writer } from './api-task.ts'
import { answer, json, lines, type Solving } from './solving.ts'
import { type TaskKind, taskOf } from './task.ts'
import { between, pick, wordPairs } from './words.ts'

const FAULTS = ['quota exceeded', 'token expired', 'upstream refused', 'checksum differs']
const LINES_OF_A_PAGE = 90

function makeLog(random: Random, tenants: readonly { readonly id: string }[]) {
  let time = Date.UTC(2026, 2, 4, 10)
  return Array.from({ length: between(random, 120, 300) }, (_, at) => {
    time += 1_000 * random(4)
    const begun = new Date(time).toISOString().slice(0, 19).replace('T', ' ')
    const [tenant, kind, request] = [pick(random, tenants).id, random(10), 7000 + at]
    if (kind < 6) {
      return `${begun} INFO request ${request} took ${between(random, 1, 900)} ms for tenant=${tenant}`
    }
    if (kind < 8) {
      return `${begun} WARN retry ${between(random, 1, 4)} of worker-${random(6)} after ${between(random, 10, 99)} ms`
    }
    return `${begun} ERROR request ${request} failed: ${pick(random, FAULTS)} tenant=${tenant}`
  })
}

const countOf = (log: readonly string[], fault: string, tenant: string) =>
  log.filter(line => line.includes(' ERROR ') && line.endsWith(`: ${fault} tenant=${tenant}`))
    .length

interface Entry {
  readonly id: string
  readonly name: string
}

/** Counts of a kind of line over the logs of several services. */
export const logsTask: TaskKind = {
  name: 'logs',
  make(random) {
    const tenants = wordPairs(random, 12).map(([a, b], at) => {
      return { id: `t-${30 + at}`, name: `${a}-${b}`, plan: pick(random, TIERS) }
    })
    const services = wordPairs(random, between(random, 3, 5)).map(([, b], at) => `${b}-${at}`)
    const logs = new Map(services.map(name => [name, makeLog(random, tenants)]))
    const write = writer(random)
    const respond = (path: string) => {
      if (path === '/tenants') return write(tenants)
      if (path === '/services') return write(services.map(name => ({ name, state: 'up' })))
      const log = logs.get(/^\/logs\/([\w-]+)/.exec(path)?.[1] ?? '')
      const found = log && pageOf(log, path, LINES_OF_A_PAGE)
      return found ? [...found.items, `-- page ${found.page} of ${found.pages}`].join('\n') : null
    }
    for (;;) {
      const [tenant, fault] = [pick(random, tenants), pick(random, FAULTS)]
      const [most, next, ...others] = [...logs]
        .map(([name, log]) => ({ name, count: countOf(log, fault, tenant.id) }))
        .toSorted((a, b) => b.count - a.count)
      if (most!.count === next!.count) continue
      const total = [most!, next!, ...others].reduce((sum, { count }) => sum + count, 0)
      const prompt = `An API has /tenants, /services and /logs/SERVICE, the last in pages (?page=1; the last line of a page says of how many). How many errors "${fault}" did the tenant ${tenant.name} get in all services, and in which service most of them? Answer with the service, a space, and the number over all services.`
      return taskOf(prompt, `${most!.name} ${total}`, { createApi: () => respond })
    }
  },
  prompt: /errors "(.*)" did the tenant (\S+) get/,
  *solve(fault = '', wanted = ''): Solving<void> {
    const tenant = yield* json(api('/tenants'), (all: readonly Entry[]) => {
      return all.find(({ name }) => name === wanted)?.id ?? ''
    })
    const services = yield* json(api('/services'), (all: readonly Entry[]) => {
      return all.map(({ name }) => name)
    })
    let [most, total] = [{ name: '', count: -1 }, 0]
    for (const name of services) {
      let count = 0
      for (let page = 1, pages = 1; page <= pages; page++) {
        const found = yield* lines(api(`/logs/${name}?page=${page}`), all => ({
          pages: Number(/of (\d+)$/.exec(all.at(-1) ?? '')?.[1]),
          count: countOf(all, fault, tenant),
        }))
        pages = found.pages
        count += found.count
      }
      if (count > most.count) most = { name, count }
      total += count
    }
    yield* answer(`${most.name} ${total}`)
  },
}
