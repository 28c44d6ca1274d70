import { z } from 'zod'
import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { isOffer, NO_SESSION, SHAPES } from '../telemetry/event.ts'
import {
  ADDED,
  addBack,
  addEvent,
  BACK,
  type BackName,
  backIn,
  type EndpointEvent,
  noteHaving,
  type Part,
  partsOf,
} from './event-sums.ts'
import { dayOf, endpointName } from './fingerprint.ts'
import { noSums, type Sums } from './formulas.ts'
import { BOUNDS, HISTOGRAM_NAMES, RATES } from './histograms.ts'

/**
 * What one process has seen of an endpoint on one day (UTC). Rows of several processes add up to
 * what one would have that saw everything: sums are added, and a session counts once.
 */
export interface DayRow {
  readonly name: string
  /** Its first moment, in Unix milliseconds. */
  readonly day: number
  readonly all: Sums
  /** Sums over events that have a session. */
  readonly open: Sums
  readonly sessions: readonly string[]
  /** The sessions that have a response with a part. */
  readonly having: ReadonlyMap<Part, readonly string[]>
}

interface Day extends Pick<DayRow, 'name' | 'day' | 'all' | 'open'> {
  readonly sessions: Set<string>
  readonly having: Map<Part, Set<string>>
}

/** Takes events, in any order, and returns the rows of their endpoints and days. */
export function createDays() {
  const days = new Map<string, Day>()

  function dayFor(name: string, moment: number): Day {
    const at = dayOf(moment)
    const key = `${at} ${name}`
    const day = days.get(key) ?? {
      name,
      day: at,
      all: noSums(),
      open: noSums(),
      sessions: new Set<string>(),
      having: new Map<Part, Set<string>>(),
    }
    days.set(key, day)
    return day
  }

  return {
    add(event: EndpointEvent): void {
      for (const [name, of] of backIn(event)) {
        const { all, open, having } = dayFor(of, event.ts_ms)
        addBack(all, name, event)
        if (event.session_hash === NO_SESSION) continue
        addBack(open, name, event)
        noteHaving(having, name, event.session_hash)
      }
      if (isOffer(event)) return
      const { endpoint_class: name, session_hash: session } = event
      const day = dayFor(name, event.ts_ms)
      addEvent(day.all, event)
      if (session === NO_SESSION) return
      addEvent(day.open, event)
      day.sessions.add(session)
      for (const part of partsOf(event)) noteHaving(day.having, part, session)
    },
    rows: (): DayRow[] =>
      [...days.values()].map(({ sessions, having, ...day }) => ({
        ...day,
        sessions: [...sessions],
        having: new Map([...having].map(([part, some]) => [part, [...some]])),
      })),
  }
}

/** Those that sessions of the row have; new ones stand at the end. */
const PARTS: readonly Part[] = [
  ...(['tables', 'lists', ...INNER_FORMATS, 'elided'] as const),
  ...HISTOGRAM_NAMES.flatMap(name => BOUNDS[name].map((_, at) => `${name} ${at}` as const)),
]
const amount = z.number().nonnegative().max(1e15)
const sumsSchema = z.object({
  of: z.array(amount).length(ADDED.length),
  shapes: z.array(amount).length(SHAPES.length),
  formats: z.array(amount).length(INNER_FORMATS.length),
  first: z.number(),
  last: z.number(),
  /** Buckets of the histograms, then rates as part and weight; absent of earlier versions. */
  buckets: z
    .array(amount)
    .length(HISTOGRAM_NAMES.flatMap(name => BOUNDS[name]).length)
    .optional(),
  rates: z
    .array(z.tuple([amount, amount]))
    .length(RATES.length)
    .optional(),
})
const sessionHash = z.string().regex(/^[0-9a-f]{16}$/)
const rowSchema = z.object({
  name: endpointName,
  day: z.number(),
  all: sumsSchema,
  /** Absent: no event has a session. */
  open: sumsSchema.optional(),
  sessions: z.array(sessionHash),
  /** By the index in `PARTS`, the indexes in `sessions`. */
  having: z.record(z.string(), z.array(z.int().nonnegative())),
  /** Sessions that came back to results of the endpoint, of this or an earlier day. */
  back: z.partialRecord(z.enum(BACK), z.array(sessionHash)).optional(),
})
/** JSON of rows. */
export const dayRowsSchema = z.array(rowSchema)

type Written = z.output<typeof dayRowsSchema>

/** Rows as JSON values. */
export function writeDayRows(rows: readonly DayRow[]): Written {
  return rows.map(({ name, day, all, open, sessions, having }) => {
    const indexes = new Map(sessions.map((session, index) => [session, index]))
    const back = [...having].flatMap(([part, some]) =>
      isBack(part) ? [[part, [...some]] as const] : [],
    )
    return {
      name,
      day,
      all: writeSums(all, day),
      ...(sessions.length === 0 && back.length === 0 ? {} : { open: writeSums(open, day) }),
      sessions: [...sessions],
      having: Object.fromEntries(
        [...having].flatMap(([part, some]) =>
          isBack(part)
            ? []
            : [[PARTS.indexOf(part), some.map(session => indexes.get(session)!)] as const],
        ),
      ),
      ...(back.length === 0 ? {} : { back: Object.fromEntries(back) }),
    }
  })
}

/** Rows of checked JSON values. Sessions and parts that do not exist are left out. */
export function readDayRows(rows: Written): DayRow[] {
  return rows.map(({ name, day, all, open, sessions, having, back = {} }) => ({
    name,
    day: dayOf(day),
    all: readSums(all),
    sessions,
    open: open === undefined ? noSums() : readSums(open),
    having: new Map<Part, readonly string[]>([
      ...Object.entries(having).flatMap(([part, some]) => {
        const known = PARTS[Number(part)]
        const named = some.flatMap(index => sessions[index] ?? [])
        return known === undefined ? [] : [[known, named] as const]
      }),
      ...BACK.flatMap(part => (back[part] === undefined ? [] : [[part, back[part]] as const])),
    ]),
  }))
}

function isBack(part: Part): part is BackName {
  return BACK.some(each => each === part)
}

/** A row that only says what came back has no times of its own, and JSON has no infinity. */
function writeSums({ shapes, formats, buckets, rates, first, last, ...sums }: Sums, day: number) {
  const times = sums.weight === 0 ? { first: day, last: day } : { first, last }
  return {
    of: ADDED.map(name => sums[name]),
    shapes: [...shapes],
    formats: [...formats],
    ...times,
    buckets: HISTOGRAM_NAMES.flatMap(name => [...buckets[name]]),
    rates: RATES.map((name): [number, number] => [rates[name].part, rates[name].weight]),
  }
}

function readSums(written: z.output<typeof sumsSchema>): Sums {
  const { of, shapes, formats, buckets = [], rates = [], first, last } = written
  const isEmpty = of[ADDED.indexOf('weight')] === 0
  const sums = { ...noSums(), ...(isEmpty ? {} : { first, last }) }
  let at = 0
  for (const name of HISTOGRAM_NAMES) {
    const end = at + BOUNDS[name].length
    sums.buckets[name].set(buckets.slice(at, end))
    at = end
  }
  for (const [index, [part, weight]] of rates.entries()) {
    Object.assign(sums.rates[RATES[index]!], { part, weight })
  }
  for (const [index, name] of ADDED.entries()) sums[name] = of[index]!
  sums.shapes.set(shapes)
  sums.formats.set(formats)
  return sums
}
