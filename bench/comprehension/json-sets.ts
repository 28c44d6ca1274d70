import type { Construct } from '../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import { createRandom } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet, Question } from './data-set.ts'
import { aboutEntries, entriesOf } from './entry-pairs.ts'
import { keys } from './pair.ts'
import { MAKERS } from './pairs.ts'
import { at, column, having, members, most, pick, rowsOf, sum, times, WORDS } from './reading.ts'
import { draws } from './text-sets.ts'

/** Pairs whose data is a set. */
const DATA: readonly (readonly [name: string, construct: Construct, seed: number])[] = [
  ['rows', 'table', 11],
  ['rows with a prefix', 'affix', 29],
  ['rooms', 'shape', 37],
]
const SIZE = 40

/** Tool results that are JSON. */
export function jsonSets(counter: TokenCounter): readonly DataSet[] {
  const made = DATA.map(([name, construct, seed]): DataSet => {
    const terms = { construct, seed, size: SIZE, random: createRandom(seed), counter }
    const { data, ask } = MAKERS[construct](terms)
    return { name, data, questions: draws(ask) }
  })
  return [...made, orders(), page(), release(), measurements(), repository()]
}

function orders(): DataSet {
  const random = createRandom(23)
  const data = times(20, index => ({
    order: `A-${100 + index}`,
    customer: { name: pick(random, WORDS), address: { city: pick(random, WORDS) } },
    items: times(1 + random(4), () => ({
      sku: `S${100 + random(50)}`,
      quantity: 1 + random(9),
      price: (100 + random(9900)) / 100,
    })),
    tags: ['gift', 'express', 'fragile'].filter(() => random(3) === 0),
    paid: random(3) > 0,
  }))
  const items = (d: Json, index: number) => rowsOf(at(d, index, 'items'))
  const isGift = (tags: Json | undefined) => (tags as readonly Json[]).includes('gift')
  const gifts = (d: Json) => rowsOf(d).filter(({ tags }) => isGift(tags))
  const prices = (d: Json, index: number) => sum(column(items(d, index), 'price')).toFixed(2)
  return {
    name: 'orders',
    data,
    questions: [
      ...times(
        20,
        (n): Question => [
          `What is the city of the customer of order A-${100 + n}?`,
          d => at(d, n, 'customer', 'address', 'city'),
        ],
      ),
      ['Which sku is the last item of order A-112?', d => items(d, 12).at(-1)?.['sku']],
      ['How many pieces does order A-103 have?', d => sum(column(items(d, 3), 'quantity'))],
      ['What do the prices of order A-101 add up to, with two decimals?', d => prices(d, 1)],
      ['Which orders are not paid?', d => column(having(rowsOf(d), 'paid', false), 'order')],
      ['Which orders have the tag gift?', d => column(gifts(d), 'order')],
      ['How many items do all orders have?', d => rowsOf(d).flatMap((_, n) => items(d, n)).length],
    ],
  }
}

/** A page of a list, of which every sixth entry has its members in another order. */
function page(): DataSet {
  const random = createRandom(53)
  const entries = entriesOf(keys(25, random), random).map((entry, index) =>
    index % 6 === 4 ? Object.fromEntries(Object.entries(entry).reverse()) : entry,
  )
  const data = {
    query: 'state != "done"',
    total: 391,
    page: { number: 3, size: 25, next: '/tickets?page=4' },
    entries,
    facets: { open: 12, closed: 9, blocked: 4 },
  }
  return {
    name: 'page of a list',
    data,
    questions: [
      ['What is the total of the result, beyond this page?', d => at(d, 'total')],
      ['What is the link to the next page?', d => at(d, 'page', 'next')],
      ['How many entries are on this page?', d => rowsOf(at(d, 'entries')).length],
      ...draws(() => aboutEntries(data, random, d => rowsOf(at(d, 'entries')))),
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
