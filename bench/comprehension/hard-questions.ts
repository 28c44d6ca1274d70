import { createRandom, type Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { GAP_COLUMNS, hardSets, WIDE_COLUMNS } from './hard-sets.ts'
import {
  aggregation,
  at,
  filtering,
  list,
  members,
  type Question,
  retrieval,
  rowsOf,
  structure,
  sum,
} from './question.ts'

/** The answer to a question about what is not there. */
const NOT_THERE = 'not in the data'
const IF_ABSENT = `Say "${NOT_THERE}" if it is not there.`

const times = (count: number, question: (at: number) => Question): Question[] =>
  Array.from({ length: count }, (_, at) => question(at))
const pick = <T>(random: Random, all: readonly T[]): T => all[random(all.length)]!
const rowWith = (d: Json, key: string, value: Json) => rowsOf(d).find(row => row[key] === value)
const numbers = (rows: readonly Record<string, Json>[], name: string) =>
  rows.map(row => row[name]).filter(value => typeof value === 'number')

/** What a member says: a value, an empty string, or that it is not there. */
function saidOf(value: Json | undefined): string {
  if (value === undefined) return NOT_THERE
  return value === '' ? 'empty' : String(value)
}

/** Generated questions about the sets of `hard-sets.ts`, by the name of the set. */
export function hardQuestions(): Readonly<Record<string, readonly Question[]>> {
  const sets = new Map(hardSets().map(({ name, data }) => [name, data]))
  const dataOf = (name: string) => sets.get(name)!
  return {
    'wide rows': aboutWideRows(dataOf('wide rows')),
    'rows with gaps': aboutGaps(dataOf('rows with gaps')),
    'long list': aboutLongList(dataOf('long list')),
    departments: aboutDepartments(dataOf('departments')),
    'long file': aboutLongFile(),
    'test run': aboutTestRun(),
  }
}

function aboutWideRows(data: Json): Question[] {
  const random = createRandom(307)
  const ids = rowsOf(data).map(row => String(row['id']))
  return [
    ...times(40, () => {
      const id = pick(random, ids)
      const name = pick(random, WIDE_COLUMNS)
      return retrieval(`What is the ${name} of ${id}?`, d => saidOf(rowWith(d, 'id', id)?.[name]))
    }),
    ...times(8, () => {
      const name = pick(random, WIDE_COLUMNS)
      return aggregation(`What is the largest number in the column ${name}?`, d =>
        String(Math.max(...numbers(rowsOf(d), name).map(Number))),
      )
    }),
    ...times(6, at => {
      const name = `lotus_${at + 1}`
      const id = pick(random, ids)
      return retrieval(`What is the ${name} of ${id}? ${IF_ABSENT}`, d =>
        saidOf(rowWith(d, 'id', id)?.[name]),
      )
    }),
  ]
}

function aboutGaps(data: Json): Question[] {
  const random = createRandom(311)
  const ids = rowsOf(data).map(row => String(row['id']))
  return [
    ...times(44, () => {
      const id = pick(random, ids)
      const name = pick(random, GAP_COLUMNS)
      const text = `What is the ${name} of ${id}? Say null or empty if it is that. ${IF_ABSENT}`
      return retrieval(text, d => saidOf(rowWith(d, 'id', id)?.[name]))
    }),
    ...times(8, at => {
      const name = GAP_COLUMNS[at]!
      return structure(`How many rows have a member ${name}, whatever it is?`, d =>
        String(rowsOf(d).filter(row => Object.hasOwn(row, name)).length),
      )
    }),
    ...times(8, at => {
      const name = GAP_COLUMNS[at + 3]!
      return filtering(`Which ids have null as ${name}?`, d =>
        list(
          rowsOf(d)
            .filter(row => row[name] === null)
            .map(row => row['id']),
        ),
      )
    }),
  ]
}

const ordinal = (number: number) => {
  const end = { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10]
  return `${number}${end === undefined || (number % 100) - (number % 10) === 10 ? 'th' : end}`
}

function aboutLongList(data: Json): Question[] {
  const random = createRandom(313)
  const count = rowsOf(data).length
  const zones = ['north', 'south', 'west']
  return [
    ...times(40, () => {
      const place = 1 + random(count)
      const name = pick(random, ['host', 'load', 'owner'])
      return retrieval(`What is the ${name} of the ${ordinal(place)} entry?`, d =>
        saidOf(rowsOf(d)[place - 1]?.[name]),
      )
    }),
    ...times(6, at => {
      const first = 10 + at * 15
      const last = first + 9
      return aggregation(`What is the largest load of the entries ${first} to ${last}?`, d =>
        String(Math.max(...numbers(rowsOf(d).slice(first - 1, last), 'load').map(Number))),
      )
    }),
    ...zones.map(zone =>
      structure(`How many entries are in the zone ${zone}?`, d =>
        String(rowsOf(d).filter(row => row['zone'] === zone).length),
      ),
    ),
    ...zones.map(zone =>
      filtering(`Which places have the entries of the zone ${zone} that are not healthy?`, d =>
        list(
          rowsOf(d).flatMap((row, place) =>
            row['zone'] === zone && row['healthy'] === false ? [place + 1] : [],
          ),
        ),
      ),
    ),
    ...times(6, at =>
      retrieval(`What is the owner of the ${ordinal(count + 1 + at * 7)} entry? ${IF_ABSENT}`, d =>
        saidOf(rowsOf(d)[count + at * 7]?.['owner']),
      ),
    ),
  ]
}

function aboutDepartments(data: Json): Question[] {
  const random = createRandom(317)
  const names = Object.keys(members(data))
  const teams = ['early', 'late', 'night']
  return [
    ...times(28, () => {
      const [name, team] = [pick(random, names), pick(random, teams)]
      const path = pick(random, [
        ['lead', 'name'],
        ['lead', 'desk', 'number'],
        ['lead', 'desk', 'floor'],
        ['budget'],
      ])
      const asked = [...path].reverse().join(' of the ')
      return retrieval(`What is the ${asked} of the ${team} team of ${name}?`, d =>
        String(at(d, name, 'teams', team, ...path)),
      )
    }),
    ...names.map(name =>
      aggregation(`How much budget do all teams of ${name} have together?`, d =>
        String(sum(Object.values(members(at(d, name, 'teams'))).map(team => at(team, 'budget')))),
      ),
    ),
    ...names.map(name =>
      retrieval(`What skills has the head of ${name}? Say none if there are none.`, d => {
        const skills = at(d, name, 'head', 'skills') as readonly Json[]
        return skills.length === 0 ? 'none' : list(skills)
      }),
    ),
    ...names.map(name =>
      retrieval(`What is the phone of the head of ${name}? ${IF_ABSENT}`, d =>
        saidOf(members(at(d, name, 'head'))['phone']),
      ),
    ),
  ]
}

function aboutLongFile(): Question[] {
  const random = createRandom(331)
  const textOf = (d: Json, line: number) => rowWith(d, 'line', line)?.['text']
  return [
    ...times(36, () => {
      const line = 61 + random(240)
      return retrieval(`Which number is in line ${line}? ${IF_ABSENT}`, d =>
        String(/\((\d+)\)/.exec(String(textOf(d, line)))?.[1] ?? NOT_THERE),
      )
    }),
    ...times(6, at => {
      const word = ['amber', 'basil', 'cedar', 'delta', 'ember', 'fjord'][at]!
      return filtering(`Which lines (their numbers) begin with a call on ${word}?`, d =>
        list(
          rowsOf(d)
            .filter(({ text }) => String(text).startsWith(`  ${word}.`))
            .map(({ line }) => line),
        ),
      )
    }),
  ]
}

function aboutTestRun(): Question[] {
  const random = createRandom(349)
  const linesOf = (d: Json) => (d as readonly string[]).filter(line => line.includes('.test.ts'))
  return [
    ...times(12, () => {
      const place = 1 + random(24)
      return retrieval(`How many ms took the ${ordinal(place)} test file?`, d =>
        String(/(\d+) ms/.exec(linesOf(d)[place - 1] ?? '')?.[1]),
      )
    }),
    filtering('Which files have failed?', d =>
      list(
        linesOf(d)
          .filter(line => line.includes('✗'))
          .map(line => /test\/\S+/.exec(line)?.[0] ?? ''),
      ),
    ),
    structure('How far was the collection at last, in percent?', d =>
      String(
        (d as readonly string[])
          .map(line => /Collecting (\d+)%/.exec(line)?.[1])
          .filter(found => found !== undefined)
          .at(-1),
      ),
    ),
  ]
}
