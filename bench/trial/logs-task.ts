import type { Random } from '../../src/lab/bill/statistics.ts'
import { api, pageOf, TIERS, taskOf, writer } from './api-task.ts'
import { answer, json, lines, type Solving } from './solving.ts'
import type { TaskKind } from './task.ts'
import { between, pick, wordPairs } from './words.ts'

const FAULTS = ['quota exceeded', 'token expired', 'upstream refused', 'checksum differs']

/** Counts of a kind of line over the logs of several services. */
export const logsTask: TaskKind = {
  name: 'logs',
  make(random) {
    const tenants = wordPairs(random, 12).map(([a, b], at) => ({
      id: `t-${30 + at}`,
      name: `${a}-${b}`,
      plan: pick(random, TIERS),
    }))
    const services = wordPairs(random, between(random, 3, 5)).map(([, b], at) => `${b}-${at}`)
    const logs = new Map(
      services.map(each => [
        each,
        makeLog(
          random,
          tenants.map(({ id }) => id),
        ),
      ]),
    )
    const write = writer(random)
    for (;;) {
      const tenant = pick(random, tenants)
      const fault = pick(random, FAULTS)
      const counts = services
        .map(name => ({ name, count: countOf(logs.get(name)!, fault, tenant.id) }))
        .toSorted((a, b) => b.count - a.count)
      if (counts[0]!.count === counts[1]!.count) continue
      const total = counts.reduce((sum, { count }) => sum + count, 0)
      const prompt = `An API has /tenants, /services and /logs/SERVICE, the last in pages (?page=1; the last line of a page says of how many). How many errors "${fault}" did the tenant ${tenant.name} get in all services, and in which service most of them? Answer with the service, a space, and the number over all services.`
      return taskOf(prompt, `${counts[0]!.name} ${total}`, () => path => {
        if (path === '/tenants') return write(tenants)
        if (path === '/services') return write(services.map(name => ({ name, state: 'up' })))
        const log = logs.get(/^\/logs\/([\w-]+)/.exec(path)?.[1] ?? '')
        return log === undefined ? null : logPage(log, path)
      })
    }
  },
  solve(prompt) {
    const found = /errors "(.*)" did the tenant (\S+) get/.exec(prompt)
    return found === null ? null : solveLogs(found[1]!, found[2]!)
  },
}

const LINES_OF_A_PAGE = 90

function logPage(log: readonly string[], path: string): string | null {
  const pages = Math.ceil(log.length / LINES_OF_A_PAGE)
  const page = pageOf(path)
  if (page < 1 || page > pages) return null
  const shown = log.slice((page - 1) * LINES_OF_A_PAGE, page * LINES_OF_A_PAGE)
  return [...shown, `-- page ${page} of ${pages}`].join('\n')
}

function makeLog(random: Random, tenants: readonly string[]): readonly string[] {
  let second = 0
  return Array.from({ length: between(random, 120, 300) }, (_, at) => {
    second += random(4)
    const [minutes, seconds] = [Math.floor(second / 60), second % 60]
    const time = `2026-03-0${between(random, 4, 4)} 1${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${String(seconds).padStart(2, '0')}`
    const tenant = pick(random, tenants)
    const kind = random(10)
    if (kind < 6)
      return `${time} INFO request ${7000 + at} took ${between(random, 1, 900)} ms for tenant=${tenant}`
    if (kind < 8)
      return `${time} WARN retry ${between(random, 1, 4)} of worker-${random(6)} after ${between(random, 10, 99)} ms`
    return `${time} ERROR request ${7000 + at} failed: ${pick(random, FAULTS)} tenant=${tenant}`
  })
}

const countOf = (log: readonly string[], fault: string, tenant: string) =>
  log.filter(line => line.includes(' ERROR ') && line.endsWith(`failed: ${fault} tenant=${tenant}`))
    .length

interface Entry {
  readonly id: string
  readonly name: string
}

function* solveLogs(fault: string, tenantName: string): Solving<void> {
  const tenant = yield* json(api('/tenants'), (all: readonly Entry[]) => {
    return all.find(({ name }) => name === tenantName)?.id ?? ''
  })
  const services = yield* json(api('/services'), (all: readonly Entry[]) =>
    all.map(({ name }) => name),
  )
  const counts: { readonly service: string; readonly count: number }[] = []
  for (const service of services) {
    let count = 0
    for (let page = 1, pages = 1; page <= pages; page++) {
      const found = yield* lines(api(`/logs/${service}?page=${page}`), all => ({
        pages: Number(/of (\d+)$/.exec(all.at(-1) ?? '')?.[1]),
        count: countOf(all, fault, tenant),
      }))
      pages = found.pages
      count += found.count
    }
    counts.push({ service, count })
  }
  const most = counts.reduce((a, b) => (b.count > a.count ? b : a))
  yield* answer(`${most.service} ${counts.reduce((sum, { count }) => sum + count, 0)}`)
}
