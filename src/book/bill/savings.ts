import { AppError } from '../../core/base/errors.ts'
import type { AgentTools } from '../../core/contract/agent-tools.ts'
import type { PromptPrint } from '../../core/contract/prompt-print.ts'
import type { Failure, Store } from '../../store/store.ts'
import { failureProblem } from '../../store/values/failure.ts'
import { createTenantSums } from '../../store/values/tenant-sums.ts'
import { createToolWatcher } from './agent-tools.ts'
import {
  type AnsweredRequest,
  billedRequest,
  type RefusedRequest,
  type SentRequest,
  sentResults,
} from './answered-request.ts'
import { createLifeAdvisor, type LifeAdvisor } from './life-advice.ts'
import type { PriceList } from './price-list.ts'
import { billOf, type RequestRow } from './request-row.ts'
import { isNextTurn, type SeenPrompt } from './seen-prompt.ts'
import { type PromptPlace, SeenPrompts } from './seen-prompts.ts'
import { addBills, emptyBill, readBill, type TenantBill, writeBill } from './tenant-bill.ts'

/** Accounts for what the proxies forwarded, by tenant, in the store. */
export interface Savings {
  /**
   * Accounts for a request once `answered` resolves; `null`: there is nothing to account for. Never
   * rejects.
   */
  record(tenant: string, answered: Promise<AnsweredRequest | null>): Promise<void>
  /** Accounts for the results of a request once they are recorded as sent. Never rejects. */
  recordResults(tenant: string, sent: Promise<SentRequest>): Promise<void>
  /** Notes a model request that the vendor did not answer. It is in no account. */
  noteRefused(refused: RefusedRequest): void
  /**
   * All sums of a tenant. Sums of other processes on the same store are included up to their last
   * write.
   * @throws AppError `overloaded`, `internal`, `worker_lost` if the store cannot be read
   */
  read(tenant: string): Promise<TenantBill>
  /** What the last conversations of a key say about lives of caches. */
  readonly advice: LifeAdvisor
  /** What is known of the tools of a tenant's agents; `undefined`: nothing yet. */
  agentTools(tenant: string): readonly AgentTools[] | undefined
  /** Notes that the provider refused the deferred tools of a kind of agent. */
  noteRefusedTools(tenant: string, kind: number): void
  /** In force now. */
  prices(): PriceList
  /** Writes what is not written yet. */
  close(): Promise<void>
}

export interface SavingsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Asked at each request, since a reload may change them; earlier bills stay as they are. */
  readonly prices: () => PriceList
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called with each request, once it is in its tenant's bill. */
  readonly onRow: (row: RequestRow) => void
  /** Called with each request that the vendor did not answer; absent: they are not counted. */
  readonly onRefused?: (refused: RefusedRequest) => void
  /** Called if sums cannot be written, once until they can again. */
  readonly onUnsaved: (detail: string) => void
  /** Called when a key's longer lives of caches begin to be a loss. */
  readonly onLoss?: (tenant: string) => void
  readonly onBug: (error: unknown) => void
  /** Between two writes of a tenant's ledger, in milliseconds. */
  readonly flushMs?: number
}

/** The format is in the key, so that a record of another version is never read as this one's. */
const RECORD = { namespace: 'savings', key: 'ledger.v1' } as const

/** How often a tenant's accounts are read for prompts of other processes, in milliseconds. */
const RESTORE_MS = 5_000

export function createSavings(options: SavingsOptions): Savings {
  const { now, onRow } = options
  const sums = createTenantSums<TenantBill>({
    ...options,
    record: RECORD,
    read: readBill,
    write: writeBill,
    add: addBills,
  })
  const accounting = new Set<Promise<void>>()

  async function whole(tenant: string): Promise<TenantBill | Failure> {
    const read = await sums.read(tenant)
    return 'ok' in read ? read : (read.sums ?? emptyBill(now()))
  }

  /** The same; `null` if it cannot be read. */
  async function readable(tenant: string): Promise<TenantBill | null> {
    const ledger = await whole(tenant)
    return 'ok' in ledger ? null : ledger
  }

  const prompts = new SeenPrompts()
  const promptBefore = createPromptSearch(prompts, readable, now)

  async function account(tenant: string, answered: Promise<AnsweredRequest | null>) {
    const request = await answered
    if (request === null) return
    const { vendor, said, report, session } = request
    const place = { tenant, vendor, conversation: report?.conversation ?? '', session }
    const print = report?.print
    const before = print === undefined ? null : await promptBefore(place, print)
    const read = said?.usage.cache_read ?? 0
    const readsCaches = prompts.reads(place, said?.model ?? null, read)
    const cachedBefore = await cachedOf(request, () => readable(tenant))
    const terms = { prices: options.prices(), cachedBefore, before, readsCaches }
    const billed = billedRequest(request, terms)
    const seen = billed.conversation?.seen
    if (seen !== undefined && print !== undefined) prompts.remember(place, seen, print)
    add(tenant, billed)
  }

  async function accountResults(tenant: string, sent: Promise<SentRequest>) {
    const results = sentResults(await sent)
    if (results !== null) add(tenant, results)
  }

  function add(tenant: string, billed: ReturnType<typeof billedRequest>) {
    const row = { ...billed, tenant, at: now(), currency: options.prices().currency }
    sums.add(tenant, billOf(row))
    onRow(row)
  }

  const tools = createToolWatcher({
    async read(tenant) {
      const ledger = await readable(tenant)
      return ledger?.uses ?? null
    },
    now,
  })

  /** Closing waits for what is accounted for. */
  function hold(work: Promise<void>): Promise<void> {
    const done = work.catch(options.onBug)
    accounting.add(done)
    return done.finally(() => accounting.delete(done))
  }

  return {
    record: (tenant, answered) => hold(account(tenant, answered)),
    recordResults: (tenant, sent) => hold(accountResults(tenant, sent)),
    noteRefused: refused => options.onRefused?.(refused),
    prices: options.prices,
    advice: createLifeAdvisor({
      read: readable,
      prices: options.prices,
      now,
      onLoss: tenant => options.onLoss?.(tenant),
    }),
    agentTools: tools.of,
    noteRefusedTools(tenant, kind) {
      const uses = [{ kind, begun: [], calls: [], isRefused: true as const }]
      sums.add(tenant, { ...emptyBill(now()), uses })
      tools.forget(tenant)
    },
    async read(tenant) {
      const ledger = await whole(tenant)
      if (!('ok' in ledger)) return ledger
      throw AppError.of(failureProblem(ledger))
    },
    async close() {
      await Promise.all(accounting)
      await sums.close()
    },
  }
}

/** Tokens of a conversation that the provider had cached; 0 if that is not known. */
async function cachedOf(
  { vendor, report }: AnsweredRequest,
  read: () => Promise<TenantBill | null>,
): Promise<number> {
  if (report?.prefix_changed !== true) return 0
  const { conversation } = report
  const ledger = await read()
  const found = ledger?.conversations.find(
    each => each.vendor === vendor && each.id === conversation,
  )
  return found?.cached ?? 0
}

/** Finds the prompt before one; of another process as far as that wrote its accounts. */
function createPromptSearch(
  prompts: SeenPrompts,
  read: (tenant: string) => Promise<TenantBill | null>,
  now: () => number,
): (place: PromptPlace, print: PromptPrint) => Promise<SeenPrompt | null> {
  /** When the accounts of a tenant were read for prompts that other processes saw. */
  const restored = new Map<string, number>()
  return async (place, print) => {
    const known = prompts.before(place, print)
    const isLast = print.next === null || (known !== null && isNextTurn(known, print))
    const { tenant } = place
    if (isLast || now() - (restored.get(tenant) ?? -RESTORE_MS) < RESTORE_MS) return known
    restored.set(tenant, now())
    const ledger = await read(tenant)
    if (ledger !== null) prompts.restore(tenant, ledger)
    return prompts.before(place, print)
  }
}
