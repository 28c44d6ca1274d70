import type { Json } from '../../test/support/plain-readers/json.ts'
import { hardQuestions } from './hard-questions.ts'
import {
  aggregation,
  at,
  filtering,
  list,
  type Members,
  members,
  money,
  type Question,
  retrieval,
  rowsOf,
  structure,
  sum,
} from './question.ts'
import { QUESTIONS_OF_TEXTS } from './questions-of-texts.ts'

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

const release: readonly Question[] = [
  retrieval('What is the version?', d => String(at(d, 'version'))),
  retrieval('What is the window?', d => String(at(d, 'window'))),
  filtering('Which fields are null?', d =>
    list(Object.keys(members(d)).filter(key => members(d)[key] === null)),
  ),
  structure('Which fields are there, in order?', d => list(Object.keys(members(d)))),
]

const measurements: readonly Question[] = [
  retrieval('What is the seventh value?', d => String(at(d, 6))),
  aggregation('What is the largest value?', d =>
    String(Math.max(...(d as readonly Json[]).map(Number))),
  ),
  filtering('How many values are below 1000?', d =>
    String((d as readonly Json[]).filter(value => Number(value) < 1000).length),
  ),
  structure('How many values are there?', d => String((d as readonly Json[]).length)),
]

const payloadOf = (d: Json) => JSON.parse(String(at(d, 'payload'))) as Json

const repository: readonly Question[] = [
  retrieval('What is the hooks_url?', d => String(at(d, 'hooks_url'))),
  retrieval('What is the id of the spdx of the license?', d =>
    String(at(d, 'license', 'spdx', 'id')),
  ),
  retrieval('What is the number in the payload?', d => String(at(payloadOf(d), 'number'))),
  filtering('Which checks of the payload have not passed?', d =>
    list(
      rowsOf(at(payloadOf(d), 'checks'))
        .filter(check => check['passed'] === false)
        .map(check => check['name']),
    ),
  ),
  aggregation('How many ms do the checks of the payload take together?', d =>
    String(sum(rowsOf(at(payloadOf(d), 'checks')).map(check => check['ms']))),
  ),
  structure('How many lines of the readme begin with a dash?', d =>
    String(
      String(at(d, 'readme'))
        .split('\n')
        .filter(line => line.startsWith('-')).length,
    ),
  ),
]

const eventRows = (d: Json) => rowsOf(at(d, 'events'))

const events: readonly Question[] = [
  retrieval('Who is the actor of evt-505?', d => String(at(d, 'events', 5, 'actor'))),
  retrieval('What is the reason of evt-510?', d => String(at(d, 'events', 10, 'reason'))),
  aggregation('How many seconds do all events take together?', d =>
    String(sum(eventRows(d).map(event => event['seconds']))),
  ),
  filtering('Which events have no actor?', d =>
    list(
      eventRows(d)
        .filter(event => !Object.hasOwn(event, 'actor'))
        .map(event => event['id']),
    ),
  ),
  structure('How many events are there?', d => String(eventRows(d).length)),
]

/** The questions about each data set, by its name. */
export const QUESTIONS: Readonly<Record<string, readonly Question[]>> = {
  people,
  orders,
  settings,
  'page of tickets': tickets,
  release,
  measurements,
  repository,
  events,
  ...QUESTIONS_OF_TEXTS,
  ...hardQuestions(),
}
