import { createRandom } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet } from './data-set.ts'
import { at, column, having, members, most, pick, rowsOf, sum, times } from './reading.ts'

const NAMES =
  'Ada Alan Barbara Claude Donald Edsger Frances Grace John Katherine Leslie Margaret'.split(' ')
const TEAMS = ['search', 'billing', 'platform', 'support']
const STATES = ['open', 'closed', 'blocked']
const CITIES = ['Lisbon', 'Osaka', 'Quito', 'Tartu', 'Zürich']

/** Tool results that are JSON. */
export function jsonSets(): readonly DataSet[] {
  return [
    people(),
    orders(),
    settings(),
    ticketPage(),
    release(),
    measurements(),
    repository(),
    events(),
  ]
}

function people(): DataSet {
  const random = createRandom(11)
  const data = times(40, index => ({
    id: 1000 + index,
    name: `${pick(random, NAMES)} ${String.fromCharCode(65 + (index % 26))}.`,
    team: pick(random, TEAMS),
    city: pick(random, CITIES),
    age: 22 + random(40),
    remote: random(2) === 0,
    manager: random(4) === 0 ? null : 1000 + random(40),
  }))
  return {
    name: 'people',
    data,
    questions: [
      ['What is the city of the person with id 1017?', d => at(d, 17, 'city')],
      ['How old is the person with id 1031?', d => at(d, 31, 'age')],
      [
        'Who is the manager of the person with id 1005? Give the id, or null.',
        d => at(d, 5, 'manager'),
      ],
      ['What is the sum of all ages?', d => sum(column(rowsOf(d), 'age'))],
      ['What is the highest age?', d => most(column(rowsOf(d), 'age'))],
      [
        'Which ids belong to people of the team billing who work remotely?',
        d => column(having(having(rowsOf(d), 'team', 'billing'), 'remote', true), 'id'),
      ],
      ['How many people have no manager (null)?', d => having(rowsOf(d), 'manager', null).length],
      ['How many people are there?', d => rowsOf(d).length],
      ['Which fields does a person have, in order?', d => Object.keys(rowsOf(d)[0]!)],
    ],
  }
}

function orders(): DataSet {
  const random = createRandom(23)
  const data = times(20, index => ({
    order: `A-${100 + index}`,
    customer: {
      name: pick(random, NAMES),
      address: { city: pick(random, CITIES), zip: String(10_000 + random(9000)) },
    },
    items: times(1 + random(4), () => ({
      sku: `S${100 + random(50)}`,
      quantity: 1 + random(9),
      price: (100 + random(9900)) / 100,
    })),
    tags: ['gift', 'express', 'fragile'].filter(() => random(3) === 0),
    paid: random(3) > 0,
  }))
  const items = (d: Json, index: number) => rowsOf(at(d, index, 'items'))
  return {
    name: 'orders',
    data,
    questions: [
      [
        'What is the zip of the customer of order A-107?',
        d => at(d, 7, 'customer', 'address', 'zip'),
      ],
      ['Which sku is the last item of order A-112?', d => items(d, 12).at(-1)?.['sku']],
      [
        'How many pieces (sum of quantities) does order A-103 have?',
        d => sum(column(items(d, 3), 'quantity')),
      ],
      [
        'What is the sum of the prices of the items of order A-101, with two decimals?',
        d => sum(column(items(d, 1), 'price')).toFixed(2),
      ],
      ['Which orders are not paid?', d => column(having(rowsOf(d), 'paid', false), 'order')],
      [
        'Which orders have the tag gift?',
        d =>
          column(
            rowsOf(d).filter(row => rowsHave(row['tags'], 'gift')),
            'order',
          ),
      ],
      [
        'How many items are there in all orders together?',
        d => rowsOf(d).flatMap(row => rowsOf(row['items'])).length,
      ],
    ],
  }
}

const rowsHave = (list: Json | undefined, value: Json) => (list as readonly Json[]).includes(value)

function settings(): DataSet {
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
  const all = (d: Json) => Object.entries(members(at(d, 'services')))
  return {
    name: 'settings',
    data: { region: 'eu-north', revision: 42, services: Object.fromEntries(services) },
    questions: [
      [
        'What is the hard limit of the memory of the service billing?',
        d => at(d, 'services', 'billing', 'resources', 'memory', 'hard'),
      ],
      [
        'What is the jitter of the probe of the service platform?',
        d => at(d, 'services', 'platform', 'probe', 'every', 'jitter'),
      ],
      [
        'How many replicas do all services have together?',
        d => sum(all(d).map(([, service]) => at(service, 'replicas'))),
      ],
      [
        'Which services have a soft disk limit above 20?',
        d =>
          all(d).flatMap(([name, service]) =>
            Number(at(service, 'resources', 'disk', 'soft')) > 20 ? [name] : [],
          ),
      ],
      ['Which services are there, in order?', d => all(d).map(([name]) => name)],
    ],
  }
}

function ticketPage(): DataSet {
  const random = createRandom(53)
  const items = times(25, index => ({
    key: `HV-${2000 + index * 3}`,
    title: `${pick(random, ['Fix', 'Check', 'Move', 'Drop'])} the ${pick(random, TEAMS)} "cache", again`,
    state: pick(random, STATES),
    reporter: { name: pick(random, NAMES), city: pick(random, CITIES) },
    votes: random(60),
    labels: TEAMS.filter(() => random(2) === 0),
  }))
  const tickets = (d: Json) => rowsOf(at(d, 'items'))
  return {
    name: 'page of tickets',
    data: {
      query: 'state != "done"',
      total: 391,
      page: { number: 3, size: 25, next: '/tickets?page=4' },
      items,
      facets: { open: 12, closed: 9, blocked: 4 },
    },
    questions: [
      ['What is the total of the result, beyond this page?', d => at(d, 'total')],
      ['What is the link to the next page?', d => at(d, 'page', 'next')],
      ['What is the title of ticket HV-2021?', d => at(d, 'items', 7, 'title')],
      [
        'In which city is the reporter of ticket HV-2045?',
        d => at(d, 'items', 15, 'reporter', 'city'),
      ],
      [
        'How many votes do all tickets of the page have together?',
        d => sum(column(tickets(d), 'votes')),
      ],
      ['Which tickets are blocked?', d => column(having(tickets(d), 'state', 'blocked'), 'key')],
      [
        'Which tickets have both labels search and support?',
        d =>
          column(
            tickets(d).filter(({ labels }) =>
              ['search', 'support'].every(label => rowsHave(labels, label)),
            ),
            'key',
          ),
      ],
      ['How many tickets are on this page?', d => tickets(d).length],
    ],
  }
}

/** One object of short texts. */
function release(): DataSet {
  return {
    name: 'release',
    data: {
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
    },
    questions: [
      ['What is the version?', d => at(d, 'version')],
      ['What is the window?', d => at(d, 'window')],
      [
        'Which fields are null?',
        d => Object.keys(members(d)).filter(key => members(d)[key] === null),
      ],
      ['Which fields are there, in order?', d => Object.keys(members(d))],
    ],
  }
}

/** Values of any kind, none of them an object. */
function measurements(): DataSet {
  const random = createRandom(61)
  const values = (d: Json) => d as readonly Json[]
  return {
    name: 'measurements',
    data: times(40, () => random(100_000) / 10),
    questions: [
      ['What is the seventh value?', d => at(d, 6)],
      ['What is the largest value?', d => most(values(d))],
      [
        'How many values are below 1000?',
        d => values(d).filter(each => Number(each) < 1000).length,
      ],
      ['How many values are there?', d => values(d).length],
    ],
  }
}

/** Links that begin alike, JSON in a string, a text of several lines, objects with one member. */
function repository(): DataSet {
  const base = 'https://git.example.org/api/v3/repos/haversack/core'
  const checks = ['lint', 'types', 'units'].map((name, index) => ({
    name,
    passed: index !== 1,
    ms: 120 + index,
  }))
  const payload = (d: Json) => JSON.parse(String(at(d, 'payload'))) as Json
  const checksOf = (d: Json) => rowsOf(at(payload(d), 'checks'))
  return {
    name: 'repository',
    data: {
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
        checks,
      }),
      readme: '# Core\n\nPacks "results": small.\n\n- first, count\n- then, pack\n',
      open_issues: 31,
    },
    questions: [
      ['What is the hooks_url?', d => at(d, 'hooks_url')],
      ['What is the id of the spdx of the license?', d => at(d, 'license', 'spdx', 'id')],
      ['What is the number in the payload?', d => at(payload(d), 'number')],
      [
        'Which checks of the payload have not passed?',
        d => column(having(checksOf(d), 'passed', false), 'name'),
      ],
      [
        'How many ms do the checks of the payload take together?',
        d => sum(column(checksOf(d), 'ms')),
      ],
      [
        'How many lines of the readme begin with a dash?',
        d => String(at(d, 'readme')).match(/^-/gm)?.length,
      ],
    ],
  }
}

/** Rows with the same fields, but for every sixth, whose fields come in another order. */
function events(): DataSet {
  const random = createRandom(71)
  const rows = times(24, index => {
    const id = `evt-${500 + index}`
    const actor = pick(random, NAMES)
    const target = pick(random, TEAMS)
    const seconds = 5 + random(400)
    return index % 6 === 4
      ? { reason: 'rolled back', seconds, target, id }
      : { id, actor, target, state: pick(random, STATES), seconds }
  })
  const all = (d: Json) => rowsOf(at(d, 'events'))
  return {
    name: 'events',
    data: { stream: 'deploys', events: rows },
    questions: [
      ['Who is the actor of evt-505?', d => at(d, 'events', 5, 'actor')],
      ['What is the reason of evt-510?', d => at(d, 'events', 10, 'reason')],
      ['How many seconds do all events take together?', d => sum(column(all(d), 'seconds'))],
      [
        'Which events have no actor?',
        d =>
          column(
            all(d).filter(event => !Object.hasOwn(event, 'actor')),
            'id',
          ),
      ],
      ['How many events are there?', d => all(d).length],
    ],
  }
}
