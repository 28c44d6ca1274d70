import type { Json } from './data-sets.ts'

/** A question that a reader answers from a text, and how the answer follows from the data. */
export interface Question {
  readonly kind: 'retrieval' | 'aggregation' | 'filtering' | 'structure'
  readonly text: string
  /** The gold answer; several are given in any order. */
  answer(data: Json): string
}

type Rows = readonly Record<string, Json>[]
type Members = Record<string, Json>

const rowsOf = (data: Json) => data as unknown as Rows
const members = (data: Json | undefined) => data as unknown as Members
const at = (data: Json, ...path: readonly (string | number)[]): Json =>
  path.reduce<Json>((inner, step) => (inner as unknown as Members)[step] ?? null, data)
const list = (values: readonly (Json | undefined)[]) => values.map(String).join(', ')
const sum = (values: readonly (Json | undefined)[]) =>
  values.reduce<number>((total, value) => total + Number(value), 0)
const money = (value: number) => value.toFixed(2)

const retrieval = (text: string, answer: Question['answer']): Question => ({
  kind: 'retrieval',
  text,
  answer,
})
const aggregation = (text: string, answer: Question['answer']): Question => ({
  kind: 'aggregation',
  text,
  answer,
})
const filtering = (text: string, answer: Question['answer']): Question => ({
  kind: 'filtering',
  text,
  answer,
})
const structure = (text: string, answer: Question['answer']): Question => ({
  kind: 'structure',
  text,
  answer,
})

const people: readonly Question[] = [
  retrieval('What is the city of the person with id 1017?', d => String(at(d, 17, 'city'))),
  retrieval('How old is the person with id 1031?', d => String(at(d, 31, 'age'))),
  retrieval('Who is the manager of the person with id 1005? Give the id, or null.', d =>
    String(at(d, 5, 'manager')),
  ),
  aggregation('What is the sum of all ages?', d => String(sum(rowsOf(d).map(row => row['age'])))),
  aggregation('What is the highest age?', d =>
    String(Math.max(...rowsOf(d).map(row => Number(row['age'])))),
  ),
  filtering('Which ids belong to people of the team billing who work remotely?', d =>
    list(
      rowsOf(d)
        .filter(row => row['team'] === 'billing' && row['remote'] === true)
        .map(row => row['id']),
    ),
  ),
  filtering('How many people have no manager (null)?', d =>
    String(rowsOf(d).filter(row => row['manager'] === null).length),
  ),
  structure('How many people are there?', d => String(rowsOf(d).length)),
  structure('Which fields does a person have, in order?', d =>
    list(Object.keys(rowsOf(d)[0] ?? {})),
  ),
]

const itemsOf = (row: Members | undefined) => rowsOf(row?.['items'] ?? [])

const orders: readonly Question[] = [
  retrieval('What is the zip of the customer of order A-107?', d =>
    String(at(d, 7, 'customer', 'address', 'zip')),
  ),
  retrieval('Which sku is the last item of order A-112?', d =>
    String(itemsOf(members(at(d, 12))).at(-1)?.['sku']),
  ),
  aggregation('How many pieces (sum of quantities) does order A-103 have?', d =>
    String(sum(itemsOf(members(at(d, 3))).map(item => item['quantity']))),
  ),
  aggregation('What is the sum of the prices of the items of order A-101, with two decimals?', d =>
    money(sum(itemsOf(members(at(d, 1))).map(item => item['price']))),
  ),
  filtering('Which orders are not paid?', d =>
    list(
      rowsOf(d)
        .filter(row => row['paid'] === false)
        .map(row => row['order']),
    ),
  ),
  filtering('Which orders have the tag gift?', d =>
    list(
      rowsOf(d)
        .filter(row => (row['tags'] as readonly Json[]).includes('gift'))
        .map(row => row['order']),
    ),
  ),
  structure('How many items are there in all orders together?', d =>
    String(rowsOf(d).reduce((count, row) => count + itemsOf(row).length, 0)),
  ),
]

const settings: readonly Question[] = [
  retrieval('What is the hard limit of the memory of the service billing?', d =>
    String(at(d, 'services', 'billing', 'resources', 'memory', 'hard')),
  ),
  retrieval('What is the jitter of the probe of the service platform?', d =>
    String(at(d, 'services', 'platform', 'probe', 'every', 'jitter')),
  ),
  aggregation('How many replicas do all services have together?', d =>
    String(sum(Object.values(members(at(d, 'services'))).map(service => at(service, 'replicas')))),
  ),
  filtering('Which services have a soft disk limit above 20?', d =>
    list(
      Object.entries(members(at(d, 'services')))
        .filter(([, service]) => Number(at(service, 'resources', 'disk', 'soft')) > 20)
        .map(([name]) => name),
    ),
  ),
  structure('Which services are there, in order?', d =>
    list(Object.keys(members(at(d, 'services')))),
  ),
]

const ticketRows = (d: Json) => rowsOf(at(d, 'items'))

const tickets: readonly Question[] = [
  retrieval('What is the total of the result, beyond this page?', d => String(at(d, 'total'))),
  retrieval('What is the link to the next page?', d => String(at(d, 'page', 'next'))),
  retrieval('What is the title of ticket HV-2021?', d => String(at(d, 'items', 7, 'title'))),
  retrieval('In which city is the reporter of ticket HV-2045?', d =>
    String(at(d, 'items', 15, 'reporter', 'city')),
  ),
  aggregation('How many votes do all tickets of the page have together?', d =>
    String(sum(ticketRows(d).map(row => row['votes']))),
  ),
  filtering('Which tickets are blocked?', d =>
    list(
      ticketRows(d)
        .filter(row => row['state'] === 'blocked')
        .map(row => row['key']),
    ),
  ),
  filtering('Which tickets have both labels search and support?', d =>
    list(
      ticketRows(d)
        .filter(row =>
          ['search', 'support'].every(label => (row['labels'] as readonly Json[]).includes(label)),
        )
        .map(row => row['key']),
    ),
  ),
  structure('How many tickets are on this page?', d => String(ticketRows(d).length)),
]

/** The questions about each data set, by its name. */
export const QUESTIONS: Readonly<Record<string, readonly Question[]>> = {
  people,
  orders,
  settings,
  'page of tickets': tickets,
}

/** Whether an answer says the same as the gold one: case, order of a list and quotes do not matter. */
export function sameAnswer(given: string, gold: string): boolean {
  return normalized(given) === normalized(gold)
}

function normalized(answer: string): string {
  const plain = answer
    .trim()
    .replace(/[`*"'[\]]/g, '')
    .replace(/\.$/, '')
  return plain
    .split(',')
    .map(part => part.trim().toLowerCase())
    .sort()
    .join(',')
}
