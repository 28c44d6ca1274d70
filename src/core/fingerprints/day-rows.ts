import { z } from 'zod'
import { INNER_FORMATS } from '../classify/inner-formats.ts'
import { isOffer, NO_SESSION, SHAPES } from '../telemetry/event.ts'
import {
  ADDED,
  addEvent,
  type EndpointEvent,
  noteHaving,
  type Part,
  partsOf,
} from './event-sums.ts'
import { dayOf, endpointName } from './fingerprint.ts'
import { noSums, type Sums } from './formulas.ts'

/**
 * What one process has seen of an endpoint on one day (UTC). Rows of several processes add up to
 * what one would have that saw everything: sums are added, and a session counts once.
 */
export interface DayRow {
  readonly name: string
  /** Its first moment, in Unix milliseconds. */
  readonly day: number
  readonly all: Sums
  /** Of events that have a session. */
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
  return {
    add(event: EndpointEvent): void {
      if (isOffer(event)) return
      const { endpoint_class: name, session_hash: session } = event
      const at = dayOf(event.ts_ms)
      const key = `${at} ${name}`
      const day = days.get(key) ?? {
        ...{ name, day: at, all: noSums(), open: noSums() },
        sessions: new Set<string>(),
        having: new Map<Part, Set<string>>(),
      }
      days.set(key, day)
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

const PARTS: readonly Part[] = ['tables', 'lists', ...INNER_FORMATS]
const amount = z.number().nonnegative().max(1e15)
const sumsSchema = z.object({
  of: z.array(amount).length(ADDED.length),
  shapes: z.array(amount).length(SHAPES.length),
  formats: z.array(amount).length(INNER_FORMATS.length),
  first: z.number(),
  last: z.number(),
})
const rowSchema = z.object({
  name: endpointName,
  day: z.number(),
  all: sumsSchema,
  /** Absent: no event has a session. */
  open: sumsSchema.optional(),
  sessions: z.array(z.string().regex(/^[0-9a-f]{16}$/)),
  /** By the index in `PARTS`, the indexes in `sessions`. */
  having: z.record(z.string(), z.array(z.int().nonnegative())),
})
/** JSON of rows. */
export const dayRowsSchema = z.array(rowSchema)

type Written = z.output<typeof dayRowsSchema>

/** Rows as JSON values. */
export function writeDayRows(rows: readonly DayRow[]): Written {
  return rows.map(({ name, day, all, open, sessions, having }) => {
    const indexes = new Map(sessions.map((session, index) => [session, index]))
    return {
      ...{ name, day, all: writeSums(all) },
      ...(sessions.length === 0 ? {} : { open: writeSums(open) }),
      sessions: [...sessions],
      having: Object.fromEntries(
        [...having].map(([part, some]) => [
          PARTS.indexOf(part),
          some.map(session => indexes.get(session)!),
        ]),
      ),
    }
  })
}

/** Rows of checked JSON values. Sessions and parts that do not exist are left out. */
export function readDayRows(rows: Written): DayRow[] {
  return rows.map(({ name, day, all, open, sessions, having }) => ({
    ...{ name, day: dayOf(day), all: readSums(all), sessions },
    open: open === undefined ? noSums() : readSums(open),
    having: new Map(
      Object.entries(having).flatMap(([part, some]) => {
        const known = PARTS[Number(part)]
        const named = some.flatMap(index => sessions[index] ?? [])
        return known === undefined ? [] : [[known, named] as const]
      }),
    ),
  }))
}

function writeSums({ shapes, formats, first, last, ...sums }: Sums) {
  const of = ADDED.map(name => sums[name])
  return { of, shapes: [...shapes], formats: [...formats], first, last }
}

function readSums({ of, shapes, formats, first, last }: z.output<typeof sumsSchema>): Sums {
  const sums = { ...noSums(), first, last }
  for (const [index, name] of ADDED.entries()) sums[name] = of[index]!
  sums.shapes.set(shapes)
  sums.formats.set(formats)
  return sums
}
