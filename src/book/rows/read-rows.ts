import type { DatabaseSync } from 'node:sqlite'
import type { KeptRow } from '../../core/contract/result-row.ts'
import type {
  BillSums,
  Bucket,
  ConversationDetail,
  ConversationPage,
  ConversationRow,
  FetchedSums,
  LedgerResult,
  LedgerTurn,
  Overview,
  ReasonCount,
  ResultSums,
  ToolRow,
  ToolSums,
  ToolTable,
} from './figures.ts'

/** A tenant's window: whole hours since 1970, the first and the one after the last. */
export interface Window {
  readonly tenant: string
  readonly from: number
  readonly to: number
}

const HOUR_MS = 3_600_000
const HEAVIEST = 3
/** Turns and results of a conversation that a page lists, the latest. */
const LISTED = 500

const RESULT_SUMS = `coalesce(sum(results), 0) AS results, coalesce(sum(before), 0) AS before,
  coalesce(sum(referred), 0) AS referred, coalesce(sum(encoded), 0) AS encoded,
  coalesce(sum(omitted), 0) AS omitted`
const BILL_SUMS = `coalesce(sum(turns), 0) AS turns, coalesce(sum(unknown), 0) AS unknown,
  coalesce(sum(billed), 0) AS billed, coalesce(sum(without), 0) AS without`
const IN_WINDOW = 'WHERE tenant = ? AND hour >= ? AND hour < ?'

/** @param hours of a bucket */
export function readOverview(
  database: DatabaseSync,
  { tenant, from, to }: Window,
  hours: number,
): Overview {
  const all = <Row>(sql: string) => database.prepare(sql).all(tenant, from, to) as unknown as Row[]
  // In the order of the table's key, so that nothing is sorted.
  const resultHours = all<HourSums & SourceSums & { readonly estimated: number }>(
    `SELECT hour, source, ${RESULT_SUMS}, coalesce(sum(iif(exact = 0, results, 0)), 0) AS estimated
     FROM result_hour ${IN_WINDOW} GROUP BY hour, source`,
  )
  const billHours = all<HourSums & BillSums & { readonly changes: number }>(
    `SELECT hour, ${BILL_SUMS}, coalesce(sum(prefix_changes), 0) AS changes
     FROM turn_hour ${IN_WINDOW} GROUP BY hour`,
  )
  const kinds = all<KindSums>(
    `SELECT tool, reason, ${RESULT_SUMS} FROM result_hour ${IN_WINDOW} GROUP BY tool, reason`,
  )
  const buckets = bucketsOf(resultHours, billHours, { from, to, hours })
  const sum = (name: keyof Bucket) => buckets.reduce((total, bucket) => total + bucket[name], 0)
  const [results, before] = [sum('results'), sum('before')]
  const [referred, encoded, omitted] = [sum('referred'), sum('encoded'), sum('omitted')]
  const [turns, unknown] = [sum('turns'), sum('unknown')]
  const [billed, without] = [sum('billed'), sum('without')]
  return {
    results: { results, before, referred, encoded, omitted },
    estimated: resultHours.reduce((total, { estimated }) => total + estimated, 0),
    bill: { turns, unknown, billed, without },
    prefixChanges: billHours.reduce((total, { changes }) => total + changes, 0),
    buckets,
    bySource: sumBy(resultHours, ({ source }) => source)
      .map(([source, sums]) => ({ source, ...sums }))
      .sort((a, b) => b.before - a.before),
    untouched: all<ReasonCount>(
      `SELECT untouched AS reason, sum(turns) AS count, 0 AS tokens FROM turn_hour ${IN_WINDOW}
       AND untouched <> '' GROUP BY untouched ORDER BY count DESC`,
    ),
    unchanged: sumBy(kinds, ({ reason }) => reason)
      .filter(([reason]) => reason !== '')
      .map(([reason, sums]) => ({ reason, count: sums.results, tokens: sums.before }))
      .sort((a, b) => b.tokens - a.tokens),
    heaviest: sumBy(kinds, ({ tool }) => tool)
      .map(([tool, sums]) => ({ tool, ...sums }))
      .sort((a, b) => sentOf(b) - sentOf(a))
      .slice(0, HEAVIEST),
  }
}

interface SourceSums extends ResultSums {
  readonly source: string
}

interface KindSums extends ToolSums {
  readonly reason: string
}

function sumBy<Row extends ResultSums>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): [name: string, sums: ResultSums][] {
  const sums = new Map<string, Record<keyof ResultSums, number>>()
  for (const row of rows) {
    const name = nameOf(row)
    const known = sums.get(name) ?? { ...NO_RESULTS }
    sums.set(name, known)
    for (const each of RESULT_NAMES) known[each] += row[each]
  }
  return [...sums]
}

/** Tokens that are still sent. */
function sentOf({ before, referred, encoded, omitted }: ResultSums): number {
  return before - referred - encoded - omitted
}

interface HourSums {
  readonly hour: number
}

const NO_RESULTS = { results: 0, before: 0, referred: 0, encoded: 0, omitted: 0 }
const NOTHING = {
  ...NO_RESULTS,
  turns: 0,
  unknown: 0,
  billed: 0,
  without: 0,
}

function bucketsOf(
  results: readonly (ResultSums & HourSums)[],
  bills: readonly (BillSums & HourSums)[],
  { from, to, hours }: { readonly from: number; readonly to: number; readonly hours: number },
): Bucket[] {
  const buckets: Record<keyof Bucket, number>[] = []
  for (let hour = from; hour < to; hour += hours) buckets.push({ at: hour * HOUR_MS, ...NOTHING })
  const bucketOf = ({ hour }: HourSums) => buckets[Math.floor((hour - from) / hours)]!
  for (const row of results) for (const name of RESULT_NAMES) bucketOf(row)[name] += row[name]
  for (const row of bills) for (const name of BILL_NAMES) bucketOf(row)[name] += row[name]
  return buckets
}

const RESULT_NAMES = ['results', 'before', 'referred', 'encoded', 'omitted'] as const
const BILL_NAMES = ['turns', 'unknown', 'billed', 'without'] as const

export function readTools(database: DatabaseSync, { tenant, from, to }: Window): ToolTable {
  const rows = database
    .prepare(
      `SELECT tool, shape, format, ${RESULT_SUMS} FROM result_hour ${IN_WINDOW}
       GROUP BY tool, shape, format`,
    )
    .all(tenant, from, to) as unknown as ToolRow[]
  const fetched = database
    .prepare(
      `SELECT tool, sum(times) AS times, sum(bytes) AS bytes FROM (
         SELECT coalesce(min(result.data ->> 'tool'), '') AS tool, fetched.times, fetched.bytes
         FROM fetched JOIN result ON result.tenant = fetched.tenant
         AND result.elided = fetched.original AND result.elided <> ''
         WHERE fetched.tenant = ? AND fetched.at >= ? AND fetched.at < ?
         GROUP BY fetched.original
       ) GROUP BY tool`,
    )
    .all(tenant, from * HOUR_MS, to * HOUR_MS) as unknown as FetchedSums[]
  return { rows, fetched }
}

export function readConversations(
  database: DatabaseSync,
  tenant: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): ConversationPage {
  const rows = database
    .prepare('SELECT * FROM conversation WHERE tenant = ? ORDER BY last_at DESC LIMIT ? OFFSET ?')
    .all(tenant, limit, offset) as unknown as ConversationRow[]
  const count = database
    .prepare('SELECT count(*) AS total FROM conversation WHERE tenant = ?')
    .get(tenant)
  return { rows, total: Number(count?.['total']) }
}

/** `null` if the tenant has no such conversation. */
export function readConversation(
  database: DatabaseSync,
  tenant: string,
  id: string,
): ConversationDetail | null {
  const conversation = database
    .prepare('SELECT * FROM conversation WHERE tenant = ? AND id = ?')
    .get(tenant, id) as unknown as ConversationRow | undefined
  if (conversation === undefined) return null
  const latest = (table: 'turn' | 'result') =>
    database
      .prepare(
        `SELECT * FROM ${table} WHERE tenant = ? AND conversation = ? AND conversation <> ''
         ORDER BY id DESC LIMIT ${LISTED}`,
      )
      .all(tenant, id)
      .reverse()
  return {
    conversation,
    turns: latest('turn') as unknown as LedgerTurn[],
    results: (latest('result') as unknown as StoredResult[]).map(toResult),
  }
}

interface StoredResult extends Pick<LedgerResult, 'id' | 'at' | 'source' | 'conversation'> {
  readonly data: string
}

function toResult({ id, at, source, conversation, data }: StoredResult): LedgerResult {
  const { session: _, ...row } = JSON.parse(data) as KeptRow
  return { ...row, id, at, source, conversation }
}

/** `null` if the tenant has no such result. */
export function readResult(
  database: DatabaseSync,
  tenant: string,
  id: number,
): LedgerResult | null {
  const row = database.prepare('SELECT * FROM result WHERE id = ? AND tenant = ?').get(id, tenant)
  return row === undefined ? null : toResult(row as unknown as StoredResult)
}

/** The latest results of a tenant. */
export function readLatest(
  database: DatabaseSync,
  tenant: string,
  limit: number,
): readonly LedgerResult[] {
  const rows = database
    .prepare('SELECT * FROM result WHERE tenant = ? ORDER BY id DESC LIMIT ?')
    .all(tenant, limit)
  return (rows as unknown as StoredResult[]).map(toResult)
}
