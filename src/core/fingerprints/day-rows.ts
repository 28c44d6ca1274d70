import { z } from 'zod'
import { isOffer } from '../telemetry/event.ts'
import { NO_SESSION } from '../telemetry/pseudonyms.ts'
import {
  addBack,
  addEvent,
  backIn,
  type EndpointEvent,
  noteHaving,
  type Part,
  partsOf,
} from './event-sums.ts'
import { dayOf, type Fingerprint, fingerprintSchema } from './fingerprint.ts'
import { noSums, type Sums } from './formulas.ts'
import { HISTOGRAM_NAMES } from './histograms.ts'
import { readLines, writeLines } from './lines.ts'

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

/** Raised if what a row has, or the order of its shapes, formats or buckets, changes. */
const VERSION = 2

/** What a process tells others: its rows, and the closed spans that it knows. */
export interface DayReport {
  readonly rows: readonly DayRow[]
  readonly spans: readonly Fingerprint[]
}

/** A report as compressed lines: a head, the rows, the spans. */
export function writeReport({ rows, spans }: DayReport): Uint8Array {
  return writeLines([{ version: VERSION, rows: rows.length }, ...rows.map(plainRow), ...spans])
}

/** Returns `null` if the bytes are not a report of this version. */
export function readReport(bytes: Uint8Array): DayReport | null {
  try {
    const [head, ...lines] = readLines(bytes)
    const { rows } = z.object({ version: z.literal(VERSION), rows: z.int() }).parse(head)
    return {
      rows: lines.slice(0, rows).map(line => readRow(line as PlainRow)),
      spans: z.array(fingerprintSchema).parse(lines.slice(rows)),
    }
  } catch {
    return null
  }
}

type PlainRow = ReturnType<typeof plainRow>

/** A row as JSON has it; sessions with a part by their place in `sessions`, or as they are. */
function plainRow({ name, day, all, open, sessions, having }: DayRow) {
  const places = new Map(sessions.map((session, place) => [session, place]))
  const parts = [...having].map(([part, some]) => {
    return [part, some.map(session => places.get(session) ?? session)] as const
  })
  return { name, day, all: plainSums(all), open: plainSums(open), sessions, having: parts }
}

function readRow({ all, open, having, ...row }: PlainRow): DayRow {
  const sessionOf = (of: number | string) => (typeof of === 'string' ? of : row.sessions[of]!)
  const parts = having.map(([part, some]) => [part, some.map(sessionOf)] as const)
  return { ...row, all: readSums(all), open: readSums(open), having: new Map(parts) }
}

/** JSON has no infinity: a row that only says what came back has no times of its own. */
function plainSums({ shapes, formats, buckets, first, ...sums }: Sums) {
  const lists = HISTOGRAM_NAMES.map(name => [...buckets[name]])
  const start = sums.weight === 0 ? null : first
  return { ...sums, first: start, shapes: [...shapes], formats: [...formats], buckets: lists }
}

function readSums({
  shapes,
  formats,
  buckets,
  first,
  ...plain
}: ReturnType<typeof plainSums>): Sums {
  const sums = { ...noSums(), ...plain, first: first ?? Number.POSITIVE_INFINITY }
  sums.shapes.set(shapes)
  sums.formats.set(formats)
  for (const [index, name] of HISTOGRAM_NAMES.entries()) sums.buckets[name].set(buckets[index]!)
  return sums
}
