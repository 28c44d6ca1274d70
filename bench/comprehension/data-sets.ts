import { createRandom } from '../random.ts'

/** Plain JSON data, as tools answer it. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json }

export interface DataSet {
  readonly name: string
  /** What kind of structure its questions are about. */
  readonly kind: 'flat' | 'nested' | 'deep' | 'wrapped'
  readonly data: Json
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
