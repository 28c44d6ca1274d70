import { createRandom, type Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet, Question } from './data-set.ts'
import {
  at,
  column,
  having,
  IF_ABSENT,
  linesOf,
  members,
  most,
  pick,
  type Row,
  rowsOf,
  saidOf,
  sum,
  times,
  WORDS,
} from './reading.ts'

/**
 * What readers find hard: wide rows, gaps, positions and deep lookups. Their questions are generated.
 */
export function hardSets(): readonly DataSet[] {
  return [wideRows(), rowsWithGaps(), longList(), departments()]
}

const word = (random: Random) => pick(random, WORDS)
const rowWith = (d: Json, id: Json | undefined) => rowsOf(d).find(row => row['id'] === id)
const numbersOf = (rows: readonly Row[], name: string) =>
  column(rows, name).filter(value => typeof value === 'number')

/** More columns than a reader sees at once. */
function wideRows(): DataSet {
  const columns = times(
    44,
    at => `${WORDS[at % WORDS.length]}_${1 + Math.floor(at / WORDS.length)}`,
  )
  const values = createRandom(211)
  const data = times(16, at => {
    const row: Record<string, Json> = { id: `W-${300 + at}` }
    for (const name of columns) row[name] = values(3) === 0 ? word(values) : values(900)
    return row
  })
  const random = createRandom(307)
  return {
    name: 'wide rows',
    data,
    questions: [
      ...times(40, (): Question => {
        const { id } = pick(random, data)
        const name = pick(random, columns)
        return [`What is the ${name} of ${id}?`, d => saidOf(rowWith(d, id)?.[name])]
      }),
      ...times(8, (): Question => {
        const name = pick(random, columns)
        return [
          `What is the largest number in the column ${name}?`,
          d => most(numbersOf(rowsOf(d), name)),
        ]
      }),
      ...times(6, (at): Question => {
        const name = `lotus_${at + 1}`
        const { id } = pick(random, data)
        return [`What is the ${name} of ${id}? ${IF_ABSENT}`, d => saidOf(rowWith(d, id)?.[name])]
      }),
    ],
  }
}

/** Rows of which each lacks some members. */
function rowsWithGaps(): DataSet {
  const columns = WORDS.map(each => `${each}_at`)
  const values = createRandom(223)
  const data = times(36, at => {
    const row: Record<string, Json> = { id: `G-${500 + at}` }
    for (const name of columns) {
      const kind = values(8)
      if (kind < 3) row[name] = 10 + values(90)
      else if (kind === 3) row[name] = null
      else if (kind === 4) row[name] = ''
    }
    row['state'] = pick(values, ['open', 'done'])
    return row
  })
  const random = createRandom(311)
  return {
    name: 'rows with gaps',
    data,
    questions: [
      ...times(44, (): Question => {
        const { id } = pick(random, data)
        const name = pick(random, columns)
        const text = `What is the ${name} of ${id}? Say null or empty if it is that. ${IF_ABSENT}`
        return [text, d => saidOf(rowWith(d, id)?.[name])]
      }),
      ...columns
        .slice(0, 8)
        .map(
          (name): Question => [
            `How many rows have a member ${name}, whatever it is?`,
            d => rowsOf(d).filter(row => Object.hasOwn(row, name)).length,
          ],
        ),
      ...columns
        .slice(3, 11)
        .map(
          (name): Question => [
            `Which ids have null as ${name}?`,
            d => column(having(rowsOf(d), name, null), 'id'),
          ],
        ),
    ],
  }
}

const ordinal = (number: number) => {
  const end = { 1: 'st', 2: 'nd', 3: 'rd' }[number % 10]
  return `${number}${end === undefined || (number % 100) - (number % 10) === 10 ? 'th' : end}`
}

const ZONES = ['north', 'south', 'west']

function longList(): DataSet {
  const values = createRandom(227)
  const count = 130
  const data = times(count, () => ({
    host: `${word(values)}-${100 + values(900)}`,
    load: values(1000) / 10,
    zone: pick(values, ZONES),
    healthy: values(5) > 0,
    owner: `${word(values)} ${word(values)}`,
  }))
  const random = createRandom(313)
  return {
    name: 'long list',
    data,
    questions: [
      ...times(40, (): Question => {
        const place = 1 + random(count)
        const name = pick(random, ['host', 'load', 'owner'])
        return [
          `What is the ${name} of the ${ordinal(place)} entry?`,
          d => saidOf(rowsOf(d)[place - 1]?.[name]),
        ]
      }),
      ...times(6, (at): Question => {
        const first = 10 + at * 15
        const last = first + 9
        return [
          `What is the largest load of the entries ${first} to ${last}?`,
          d => most(column(rowsOf(d).slice(first - 1, last), 'load')),
        ]
      }),
      ...ZONES.map(
        (zone): Question => [
          `How many entries are in the zone ${zone}?`,
          d => having(rowsOf(d), 'zone', zone).length,
        ],
      ),
      ...ZONES.map(
        (zone): Question => [
          `Which places have the entries of the zone ${zone} that are not healthy?`,
          d =>
            rowsOf(d).flatMap((row, place) =>
              row['zone'] === zone && row['healthy'] === false ? [place + 1] : [],
            ),
        ],
      ),
      ...times(
        6,
        (at): Question => [
          `What is the owner of the ${ordinal(count + 1 + at * 7)} entry? ${IF_ABSENT}`,
          d => saidOf(rowsOf(d)[count + at * 7]?.['owner']),
        ],
      ),
    ],
  }
}

const TEAMS = ['early', 'late', 'night']
const PATHS = [['lead', 'name'], ['lead', 'desk', 'number'], ['lead', 'desk', 'floor'], ['budget']]

function departments(): DataSet {
  const values = createRandom(229)
  const person = () => ({
    name: `${word(values)} ${String.fromCharCode(65 + values(26))}.`,
    desk: { floor: 1 + values(9), number: 100 + values(90) },
    skills: WORDS.filter(() => values(5) === 0),
  })
  const team = () => ({ lead: person(), budget: 1000 + values(9000), size: 1 + values(20) })
  const names = ['optics', 'acoustics', 'fluids', 'solids', 'plasma']
  const all = names.map(name => [
    name,
    { head: person(), teams: { early: team(), late: team(), night: team() } },
  ])
  const random = createRandom(317)
  return {
    name: 'departments',
    data: Object.fromEntries(all),
    questions: [
      ...times(28, (): Question => {
        const [name, team] = [pick(random, names), pick(random, TEAMS)]
        const path = pick(random, PATHS)
        const asked = path.toReversed().join(' of the ')
        return [
          `What is the ${asked} of the ${team} team of ${name}?`,
          d => at(d, name, 'teams', team, ...path),
        ]
      }),
      ...names.map(
        (name): Question => [
          `How much budget do all teams of ${name} have together?`,
          d => sum(Object.values(members(at(d, name, 'teams'))).map(each => at(each, 'budget'))),
        ],
      ),
      ...names.map(
        (name): Question => [
          `What skills has the head of ${name}? Say none if there are none.`,
          d => linesOf(at(d, name, 'head', 'skills')).join(', ') || 'none',
        ],
      ),
      ...names.map(
        (name): Question => [
          `What is the phone of the head of ${name}? ${IF_ABSENT}`,
          d => saidOf(members(at(d, name, 'head'))['phone']),
        ],
      ),
    ],
  }
}
