import type { DatabaseSync } from 'node:sqlite'
import { type KeptRow, MAX_NAME, type ResultRow } from '../../core/contract/result-row.ts'
import { keptRow } from '../../core/telemetry/result-row.ts'
import type { Codec } from '../../store/values/codec.ts'
import { type Arrival, type ArrivedFetch, type ArrivedResult, isRow } from '../arrivals.ts'
import { BatchSums } from './batch-sums.ts'
import { DayWriter, type Origin } from './day-sums.ts'
import { limitTexts, writeTexts } from './kept-texts.ts'
import { isPassing, PassingTexts, type SumPlace } from './passing-texts.ts'
import type { DaySums } from './read-days.ts'
import type { Turn } from './turn.ts'

const HOUR_MS = 3_600_000

/** Kinds of results of a tenant in an hour that are summed by themselves; more are one kind. */
const MOST_KINDS = 1_000
const OTHER_TOOL = '(other)'

/** Digits of a text's hash by which parts of it are fetched. */
const ORIGINAL_DIGITS = 24

/** Writes rows, and adds them to the sums of their hours and conversations. */
export class RowWriter {
  /** Returns the id of the row, if it is new. */
  readonly #run: (sql: keyof typeof STATEMENTS, ...values: (string | number)[]) => number
  readonly #database: DatabaseSync
  readonly #days: DayWriter
  readonly #passing: PassingTexts
  /** Kinds of the current hour by tenant, so that clients cannot make rows without bound. */
  #hour = 0
  #kinds = new Map<string, Set<string>>()

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#days = new DayWriter(database)
    this.#passing = new PassingTexts(database)
    const prepared = Object.fromEntries(
      Object.entries(STATEMENTS).map(([name, sql]) => [name, database.prepare(sql)]),
    )
    this.#run = (name, ...values) => Number(prepared[name]!.run(...values).lastInsertRowid)
  }

  /**
   * All or nothing.
   * @param codec seals texts; `null`: none are kept
   */
  write(arrivals: readonly Arrival[], codec: Codec | null = null): void {
    const sums = new BatchSums()
    const ofTexts = new Set<string>()
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const each of arrivals.filter(isRow)) {
        if (each.kind === 'turn') this.#turn(each, sums)
        else if (each.kind === 'fetch') this.#fetch(each)
        else {
          const id = this.#result(each, sums)
          const { tenant, at, texts } = each
          if (codec === null || texts === undefined) continue
          writeTexts(this.#database, codec, { id, tenant, at, texts })
          ofTexts.add(tenant)
        }
      }
      for (const tenant of ofTexts) limitTexts(this.#database, tenant)
      for (const [name, cells] of sums.rows()) this.#run(name, ...cells)
      this.#days.write()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#days.drop()
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #result(arrived: ArrivedResult, sums: BatchSums): number {
    const { tenant, at, source, conversation } = arrived
    const row = keptRow(JSON.parse(arrived.row) as ResultRow)
    const { before, referred, encoded, omitted } = row
    const elided = omitted > 0 ? (row.original ?? '').slice(0, ORIGINAL_DIGITS) : ''
    const name = conversation ?? row.session ?? ''
    const id = this.#run('result', tenant, at, source, name, elided, JSON.stringify(row))
    const earlier = this.#passing.take(tenant, source, row.received)
    const place = earlier ?? this.#placeOf(arrived, row)
    if (isPassing(source)) this.#passing.note(place, source, row.sent)
    const counts = countsOf(row, earlier !== null, arrived.isPassedOn === true)
    this.#days.add(place.day, counts)
    sums.resultHour(place.hour, Object.values(counts))
    if (name === '') return id
    const all = sums.conversation(tenant, name, at)
    if (all.turns === 0) all.source = source
    nameOrigin(all, arrived.origin)
    all.results += 1
    all.before += before
    all.saved += referred + encoded + omitted
    return id
  }

  #placeOf({ tenant, at, source, model, origin = {} }: ArrivedResult, row: KeptRow): SumPlace {
    const { shape, format, exact } = row
    const [tool, reason] = [row.tool ?? '', row.reason ?? '']
    const kind = this.#kindOf(tenant, at, tool, `${source} ${shape} ${format} ${reason}`)
    return {
      day: { tenant, at, source, origin, model, tool },
      hour: [tenant, hourOf(at), source, kind, shape, format, reason, exact ? 1 : 0],
    }
  }

  #turn(turn: Turn, sums: BatchSums): void {
    this.#dayOfTurn(turn)
    if (turn.isHidden) return
    const { tenant, at, vendor, uncached, cache_read, cache_write, output, removed } = turn
    const { billed, without } = turn
    const [known, changed] = [turn.known ? 1 : 0, turn.prefix_changed ? 1 : 0]
    const [conversation, untouched] = [turn.conversation ?? '', turn.untouched ?? '']
    const model = (turn.model ?? '').slice(0, MAX_NAME)
    this.#run(
      'turn',
      ...[tenant, at, vendor, conversation, model, known, uncached, cache_read, cache_write],
      ...[output, removed, billed, without, untouched, changed],
    )
    sums.turnHour(
      [tenant, hourOf(at), vendor, untouched],
      [1, 1 - known, changed, removed, billed, without],
    )
    if (conversation === '') return
    const all = sums.conversation(tenant, conversation, at)
    all.source = vendor
    nameOrigin(all, turn.origin)
    if (model !== '') all.model = model
    all.turns += 1
    all.billed += billed
    all.without += without
  }

  /**
   * The bill of a request is summed without a tool, but for what the results of each tool saved: so
   * the parts of a day add up to it.
   */
  #dayOfTurn({ tenant, at, vendor: source, model, origin = {}, ...turn }: Turn): void {
    const { billed, without, money } = turn
    const ofModel = { tenant, at, source, origin, model, currency: money?.currency }
    const perToken = money === null || without === 0 ? 0 : money.without / without
    let rest = without
    let restMoney = money?.without ?? 0
    for (const [tool, saved] of turn.tools) {
      rest -= saved
      restMoney -= saved * perToken
      this.#days.add({ ...ofModel, tool }, { without: saved, without_money: saved * perToken })
    }
    this.#days.add(ofModel, {
      requests: turn.isHidden ? 0 : 1,
      unknown: turn.known ? 0 : 1,
      prefix_changes: turn.prefix_changed ? 1 : 0,
      billed,
      without: rest,
      billed_money: money?.billed ?? 0,
      without_money: restMoney,
    })
  }

  /** A fetch belongs to the day of the fetch, and to the tool of the text. */
  #fetch({ tenant, original, at, bytes }: ArrivedFetch): void {
    this.#run('fetched', tenant, original, at, bytes)
    const found = this.#database
      .prepare(`SELECT source, data ->> 'tool' AS tool FROM result
        WHERE tenant = ? AND elided = ? AND elided <> '' LIMIT 1`)
      .get(tenant, original)
    // An input that a client kept, or a text whose row has gone.
    if (found === undefined) return
    const [source, tool] = [String(found['source']), String(found['tool'] ?? '')]
    this.#days.add({ tenant, at, source, origin: {}, tool }, { fetched: 1 })
  }

  /** The tool's name, or one name for all if there are too many kinds already. */
  #kindOf(tenant: string, at: number, tool: string, rest: string): string {
    if (hourOf(at) !== this.#hour) {
      this.#hour = hourOf(at)
      this.#kinds = new Map()
    }
    const kinds = this.#kinds.get(tenant) ?? new Set()
    this.#kinds.set(tenant, kinds)
    const kind = `${tool} ${rest}`
    if (kinds.has(kind)) return tool
    if (kinds.size >= MOST_KINDS) return OTHER_TOOL
    kinds.add(kind)
    return tool
  }
}

/** Keeps where a conversation comes from, as far as that is known. */
function nameOrigin(names: { project: string; agent: string }, origin: Origin = {}): void {
  const { project, agent = origin.client } = origin
  if (project) names.project = project.slice(0, MAX_NAME).toWellFormed()
  if (agent) names.agent = agent.slice(0, MAX_NAME).toWellFormed()
}

type ResultCounts = Pick<DaySums, 'results' | 'before' | 'referred' | 'encoded' | 'omitted'>

/**
 * What a result adds to sums, so that the sums of all our processes have it once: as its tool gave
 * it, and as it reached its model.
 * @param isCounted whether its text was counted where it left us before
 * @param isPassedOn whether the next service of ours counts it, as it leaves here
 */
function countsOf(row: KeptRow, isCounted: boolean, isPassedOn: boolean): ResultCounts {
  const { before, referred, encoded, omitted } = row
  const after = before - referred - encoded - omitted
  return {
    results: (isCounted ? 0 : 1) - (isPassedOn ? 1 : 0),
    before: (isCounted ? 0 : before) - (isPassedOn ? after : 0),
    referred,
    encoded,
    omitted,
  }
}

/** The hour of a time, in hours since 1970. */
export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS)
}

const STATEMENTS = {
  result: `INSERT INTO result (tenant, at, source, conversation, elided, data)
    VALUES (${marks(6)})`,
  resultHour: `INSERT INTO result_hour (tenant, hour, source, tool, shape, format, reason, exact,
    results, before, referred, encoded, omitted) VALUES (${marks(13)})
    ON CONFLICT DO UPDATE SET results = results + excluded.results,
    before = before + excluded.before, referred = referred + excluded.referred,
    encoded = encoded + excluded.encoded, omitted = omitted + excluded.omitted`,
  turn: `INSERT INTO turn (tenant, at, vendor, conversation, model, known, uncached, cache_read,
    cache_write, output, removed, billed, without, untouched, prefix_changed)
    VALUES (${marks(15)})`,
  turnHour: `INSERT INTO turn_hour (tenant, hour, vendor, untouched, turns, unknown,
    prefix_changes, removed, billed, without) VALUES (${marks(10)})
    ON CONFLICT DO UPDATE SET turns = turns + excluded.turns, unknown = unknown + excluded.unknown,
    prefix_changes = prefix_changes + excluded.prefix_changes,
    removed = removed + excluded.removed, billed = billed + excluded.billed,
    without = without + excluded.without`,
  conversation: `INSERT INTO conversation (tenant, id, source, model, first_at, last_at, results,
    before, saved, turns, billed, without, project, agent) VALUES (${marks(14)})
    ON CONFLICT DO UPDATE SET source = iif(excluded.turns > 0, excluded.source, source),
    model = iif(excluded.model = '', model, excluded.model),
    first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at),
    results = results + excluded.results, before = before + excluded.before,
    saved = saved + excluded.saved, turns = turns + excluded.turns,
    billed = billed + excluded.billed, without = without + excluded.without,
    project = iif(excluded.project = '', project, excluded.project),
    agent = iif(excluded.agent = '', agent, excluded.agent)`,
  fetched: `INSERT INTO fetched (tenant, original, at, times, bytes) VALUES (?, ?, ?, 1, ?)
    ON CONFLICT DO UPDATE SET at = max(at, excluded.at), times = times + 1,
    bytes = bytes + excluded.bytes`,
} as const

function marks(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ')
}
