import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Caller } from '../../access/access.ts'
import { addAccounts, NO_ACCOUNT } from '../../book/bill/account.ts'
import { figuresOf } from '../../book/bill/figures.ts'
import { missRows, sumOfMisses } from '../../book/bill/misses.ts'
import type { TenantBill } from '../../book/bill/tenant-bill.ts'
import { turnPrices } from '../../book/bill/turn-marks.ts'
import type { LedgerResult } from '../../book/rows/figures.ts'
import { processEnv } from '../../config/env.ts'
import { AGENT_PROGRAMS } from '../../core/base/agent-programs.ts'
import { AppError } from '../../core/base/errors.ts'
import { toText } from '../../core/base/text-bytes.ts'
import type { ShowAnswer, ShowRequest } from '../../core/operations/show-result.ts'
import { parsePart } from '../../core/parts/parse-part.ts'
import { VERSION } from '../../runtime/version.ts'
import type { Priced, PriceOf } from '../../ui/conversation-pages.ts'
import { type FirstSteps, SAMPLE } from '../../ui/empty-page.ts'
import type { KeptPart } from '../../ui/kept-page.ts'
import type { AccountData } from '../../ui/more-to-save.ts'
import type { Kept } from '../../ui/result-page.ts'
import { afterOf } from '../../ui/result-rows.ts'
import type { ServiceData } from '../../ui/service-page.ts'
import type { AppContext } from '../context.ts'
import { keysFor } from './keys.ts'
import type { UiNeeds } from './ui-needs.ts'

/** Conversations that are listed with what misses cost them. */
const WORST = 5

/** The three figures over all vendors, and what was cached and not read. */
export function accountsOf({ since, vendors, conversations }: TenantBill): AccountData {
  const account = Object.values(vendors).reduce(addAccounts, NO_ACCOUNT)
  const worst = conversations
    .map(({ id, change, account: of }) => ({
      conversation: id,
      ...sumOfMisses(of.misses),
      ...(change && { changed: change }),
    }))
    .filter(each => each.count > 0)
    .sort((a, b) => b.cost - a.cost)
    .slice(0, WORST)
  const misses = { rows: missRows(account.misses), worst }
  const { life, definitions } = account
  return { since, figures: figuresOf(account), life, misses, definitions }
}

/** `null` for what cannot be read now: the rest of the page is shown without it. */
export function unlessBug(error: unknown): null {
  if (error instanceof AppError) return null
  throw error
}

/** Money by the prices that are in force now. */
export function pricedBy({ savings }: Pick<UiNeeds, 'savings'>): Priced {
  const list = savings.prices()
  const priceOf: PriceOf = (vendor, model) => {
    const perMillion = turnPrices(list, vendor, model)?.per_million
    return perMillion === undefined ? null : perMillion / 1e6
  }
  return { priceOf, currency: list.currency }
}

/** Agents whose commands Haversack can run. */
const AGENTS = AGENT_PROGRAMS.flatMap(({ name, isRun }) => (isRun ? [name] : []))

/** What to do first. With keys the reader's machine may be another one, so no agent is named. */
export async function firstSteps(
  c: AppContext,
  caller: Caller,
  needs: UiNeeds,
): Promise<FirstSteps> {
  const folders = (processEnv()['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  const isHere = (name: string) => folders.some(folder => existsSync(join(folder, name)))
  const agents = needs.access.records() === null ? AGENTS.filter(isHere) : null
  const sample = await showText(c, caller, { content: SAMPLE }, needs).catch(unlessBug)
  return { agents, sample }
}

/** What a text becomes by itself, in a worker. @throws AppError what the operation throws */
export async function showText(
  c: AppContext,
  caller: Caller,
  request: ShowRequest,
  { admission, pool }: Pick<UiNeeds, 'admission' | 'pool'>,
): Promise<ShowAnswer> {
  const body = Buffer.from(JSON.stringify(request))
  const ticket = admission.enter(caller, body.length)
  try {
    const result = await pool.run({
      op: 'show_result',
      tenant: caller.tenant,
      media: 'json',
      accept: 'json',
      body,
      requestId: c.get('state').requestId,
    })
    if (result.ok) return JSON.parse(Buffer.from(result.body).toString()) as ShowAnswer
    throw AppError.of(result.problem)
  } finally {
    ticket.leave()
  }
}

/** A result with both sides, decoded again; `null` if they are not kept. */
export async function sentText(
  c: AppContext,
  caller: Caller,
  result: LedgerResult,
  needs: UiNeeds,
): Promise<Kept | null> {
  const texts = await needs.ledger.texts(caller.tenant, result.id)
  if (texts === null) return null
  const { before: text, after, format, earlier } = texts
  const sent = { content: after, format, earlier }
  const named = result.tool === null ? {} : { tool: result.tool }
  const shown = await showText(c, caller, { content: text, sent, ...named }, needs)
  const { before, tokenizer, exact } = result
  const counted = { ...shown, before, after: afterOf(result), tokenizer, exact }
  return { text, shown: counted, isSent: true }
}

/** The text of a result and what it becomes, or why there is none to show. */
export async function keptText(
  c: AppContext,
  caller: Caller,
  result: LedgerResult,
  needs: UiNeeds,
): Promise<Kept> {
  if (!caller.scopes.has('retrieve')) {
    return { why: 'Texts are shown to keys with the scope retrieve.' }
  }
  const { original, tool } = result
  const named = tool === null ? {} : { tool }
  const sent = await sentText(c, caller, result, needs)
  if (sent !== null) return sent
  if (original === null) {
    return {
      why: 'It was not kept: ui.keep_texts is off. Else sessions keep texts, and those cut short.',
    }
  }
  try {
    const reference = { tenant: caller.tenant, ref: original }
    const stored = await needs.originals.fetch(reference, () => {})
    const text = toText({ bytes: stored.body, media_type: stored.media_type })
    const shown = await showText(c, caller, { content: text, ...named }, needs)
    return { text, shown, isSent: false }
  } catch (error) {
    if (error instanceof AppError) return { why: `It cannot be shown now: ${error.detail}.` }
    throw error
  }
}

/**
 * A kept text, or the part of it that the query names as `GET /v1/retrieve` takes it.
 * @throws AppError `forbidden` without the scope `retrieve`, and as `Originals.fetch`
 */
export async function keptPart(
  { tenant, scopes }: Caller,
  ref: string,
  { lines, path }: Readonly<Record<string, string>>,
  { originals }: Pick<UiNeeds, 'originals'>,
): Promise<KeptPart> {
  if (!scopes.has('retrieve')) {
    throw new AppError('forbidden', 'texts are shown to keys with the scope retrieve')
  }
  const query = {
    ...(lines === undefined ? {} : { lines }),
    ...(path === undefined ? {} : { path }),
  }
  const selector = parsePart(query)
  const found =
    selector === undefined
      ? await originals.fetch({ tenant, ref }, () => {})
      : await originals.fetchPart({ tenant, ref }, selector)
  const content = 'part' in found ? found.part.content : found.body
  const { hash, bytes, created_at, expires_at, media_type } = found
  const text = toText({ bytes: content, media_type })
  return { hash, text, bytes, part: lines ?? path ?? '', created_at, expires_at }
}

/** @param fresh a key that was just added, to be shown once */
export async function serviceData(
  caller: Caller,
  needs: UiNeeds,
  fresh: string | null = null,
): Promise<ServiceData> {
  const { ui, health } = needs
  const { gauges, upstreams } = ui
  const stats = await gauges.store()
  return {
    version: VERSION,
    state: health.state,
    store: await health.store(),
    threads: gauges.threads(),
    utilization: gauges.utilization(),
    waiting: gauges.jobsWaiting(),
    waitMs: gauges.waitMs(),
    connections: gauges.connections(),
    kept: stats === null ? null : { bytes: stats.stored_bytes, most: stats.file?.max_bytes ?? 0 },
    upstreams,
    keys: keysFor(caller, needs),
    fresh,
  }
}
