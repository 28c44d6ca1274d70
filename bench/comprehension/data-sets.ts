import { encode } from '../../src/index.ts'
import { createRandom } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { hardSets } from './hard-sets.ts'
import { sessionSets } from './session-sets.ts'
import { textSets } from './text-sets.ts'

export interface DataSet {
  readonly name: string
  /** What kind of structure its questions are about. */
  readonly kind: 'flat' | 'nested' | 'deep' | 'wrapped' | 'text'
  /** What the questions are about; of a text, what a reader finds in it. */
  readonly data: Json
  /** The tool result where it is a text of its own; else it is the data as JSON. */
  readonly text?: string
  /** Formats that are asked for; absent: what `encode` chooses. */
  readonly formats?: readonly string[]
  /** What is sent, if more than the result decides that; else what `encode` answers. */
  readonly answer?: () => Answer
}

/** What is sent for a result. */
export interface Answer {
  readonly format: string
  readonly content: string
}

/** What is sent for the data. */
export function sentOf({ data, text, formats, answer }: DataSet): Answer {
  const content = text ?? JSON.stringify(data, null, 2)
  return answer?.() ?? encode({ content, ...(formats && { formats: [...formats] }) })
}

const NAMES =
  'Ada Alan Barbara Claude Donald Edsger Frances Grace John Katherine Leslie Margaret'.split(' ')
const TEAMS = ['search', 'billing', 'platform', 'support']
const STATES = ['open', 'closed', 'blocked']
const CITIES = ['Lisbon', 'Osaka', 'Quito', 'Tartu', 'Zürich']

/** The same data in every run: what a model is asked must not change between runs. */
export function dataSets(): DataSet[] {
  return [
    { name: 'people', kind: 'flat', data: people(40) },
    { name: 'orders', kind: 'nested', data: orders(20) },
    { name: 'settings', kind: 'deep', data: settings() },
    { name: 'page of tickets', kind: 'wrapped', data: ticketPage(25) },
    { name: 'release', kind: 'flat', data: release() },
    { name: 'measurements', kind: 'flat', data: measurements() },
    { name: 'repository', kind: 'nested', data: repository() },
    { name: 'events', kind: 'nested', data: events(24) },
    ...textSets(),
    ...sessionSets(),
    ...hardSets(),
  ]
}

function people(count: number): Json {
  const random = createRandom(11)
  return Array.from({ length: count }, (_, index) => ({
    id: 1000 + index,
    name: `${NAMES[random(NAMES.length)]} ${String.fromCharCode(65 + (index % 26))}.`,
    team: TEAMS[random(TEAMS.length)] ?? '',
    city: CITIES[random(CITIES.length)] ?? '',
    age: 22 + random(40),
    remote: random(2) === 0,
    manager: random(4) === 0 ? null : 1000 + random(count),
  }))
}

function orders(count: number): Json {
  const random = createRandom(23)
  return Array.from({ length: count }, (_, index) => ({
    order: `A-${100 + index}`,
    customer: {
      name: NAMES[random(NAMES.length)] ?? '',
      address: { city: CITIES[random(CITIES.length)] ?? '', zip: String(10_000 + random(9000)) },
    },
    items: Array.from({ length: 1 + random(4) }, () => ({
      sku: `S${100 + random(50)}`,
      quantity: 1 + random(9),
      price: (100 + random(9900)) / 100,
    })),
    tags: ['gift', 'express', 'fragile'].filter(() => random(3) === 0),
    paid: random(3) > 0,
  }))
}

function settings(): Json {
  const random = createRandom(37)
  const limits = () => ({ soft: 1 + random(50), hard: 50 + random(500), unit: 'MB' })
  const services = TEAMS.map(team => [
    team,
    {
      replicas: 1 + random(9),
      resources: { memory: limits(), disk: limits() },
      probe: {
        path: `/${team}/health`,
        every: { seconds: 5 + random(25), jitter: random(10) / 10 },
      },
    },
  ])
  return { region: 'eu-north', revision: 42, services: Object.fromEntries(services) }
}

function ticketPage(count: number): Json {
  const random = createRandom(53)
  return {
    query: 'state != "done"',
    total: 391,
    page: { number: 3, size: count, next: '/tickets?page=4' },
    items: Array.from({ length: count }, (_, index) => ({
      key: `HV-${2000 + index * 3}`,
      title: `${['Fix', 'Check', 'Move', 'Drop'][random(4)]} the ${TEAMS[random(TEAMS.length)]} "cache", again`,
      state: STATES[random(STATES.length)] ?? '',
      reporter: {
        name: NAMES[random(NAMES.length)] ?? '',
        city: CITIES[random(CITIES.length)] ?? '',
      },
      votes: random(60),
      labels: TEAMS.filter(() => random(2) === 0),
    })),
    facets: { open: 12, closed: 9, blocked: 4 },
  }
}

/** One object of short texts. */
function release(): Json {
  return {
    name: 'Northern Lights',
    version: '01234',
    channel: 'stable',
    approved_by: 'Grace Hopper',
    summary: 'Fixes two leaks; see "notes"',
    window: 'Friday, before noon',
    ticket: '4711',
    previous: null,
    signed: true,
    downtime_minutes: 12,
  }
}

/** Values of any kind, none of them an object. */
function measurements(): Json {
  const random = createRandom(61)
  return Array.from({ length: 40 }, () => random(100_000) / 10)
}

/** Links that begin alike, JSON in a string, a text of several lines, objects with one member. */
function repository(): Json {
  const base = 'https://git.example.org/api/v3/repos/haversack/core'
  return {
    full_name: 'haversack/core',
    links_url: `${base}/links`,
    issues_url: `${base}/issues`,
    pulls_url: `${base}/pulls`,
    hooks_url: `${base}/hooks`,
    events_url: `${base}/events`,
    license: { spdx: { id: 'Apache-2.0' } },
    payload: JSON.stringify({
      action: 'opened',
      number: 318,
      labels: ['bug', 'urgent'],
      checks: ['lint', 'types', 'units'].map((name, at) => ({
        name,
        passed: at !== 1,
        ms: 120 + at,
      })),
    }),
    readme: '# Core\n\nPacks "results": small.\n\n- first, count\n- then, pack\n',
    open_issues: 31,
  }
}

/** Rows with the same fields, but for every sixth, whose fields come in another order. */
function events(count: number): Json {
  const random = createRandom(71)
  return {
    stream: 'deploys',
    events: Array.from({ length: count }, (_, index) => {
      const id = `evt-${500 + index}`
      const actor = NAMES[random(NAMES.length)] ?? ''
      const target = TEAMS[random(TEAMS.length)] ?? ''
      const seconds = 5 + random(400)
      return index % 6 === 4
        ? { reason: 'rolled back', seconds, target, id }
        : { id, actor, target, state: STATES[random(STATES.length)] ?? '', seconds }
    }),
  }
}
