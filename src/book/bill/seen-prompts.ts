import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { PromptPrint } from '../../core/contract/prompt-print.ts'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { continues, type SeenPrompt } from './seen-prompt.ts'
import type { TenantBill } from './tenant-bill.ts'

/** Whose conversation a prompt is of. */
export interface PromptPlace {
  readonly tenant: string
  readonly vendor: VendorName
  /** Names it by its opening. */
  readonly conversation: string
  readonly session: string | undefined
}

/** Openings and conversations that are remembered. */
const MAX_KEYS = 10_000
/** Prompts that are remembered of one: a client may go on from it several times at once. */
const MAX_BRANCHES = 4

/** The last prompts of conversations, in memory; those used last are kept. */
export class SeenPrompts {
  readonly #seen = new BoundedMap<string, readonly SeenPrompt[]>(MAX_KEYS)
  /** Models of which an answer said that it read from a cache. */
  readonly #readers = new Set<string>()

  /** The prompt that another one continues, or else the last one of its conversation. */
  before(place: PromptPlace, print: PromptPrint): SeenPrompt | null {
    const key = keyOf(place, print.next)
    const own = this.#seen.get(key) ?? []
    const opened = print.next === null ? own : (this.#seen.get(keyOf(place, null)) ?? [])
    const all = own.length > 0 ? own : opened
    const continued = all.filter(each => continues(each, print))
    return continued.sort((a, b) => b.messages - a.messages)[0] ?? all[0] ?? null
  }

  /** Remembers a prompt, in place of those that it continues. */
  remember(place: PromptPlace, prompt: SeenPrompt, print: PromptPrint | null): void {
    const key = keyOf(place, prompt.next)
    const others = (this.#seen.get(key) ?? []).filter(
      each => print === null || !continues(each, print),
    )
    this.#seen.set(key, [prompt, ...others].slice(0, MAX_BRANCHES))
  }

  /**
   * Whether a model's answers report what they read. Many servers that speak OpenAI's API do not,
   * and do not report what they write either: then nothing is known to be cached.
   */
  reads(of: Pick<PromptPlace, 'tenant' | 'vendor'>, model: string | null, read: number): boolean {
    const key = JSON.stringify([of.tenant, of.vendor, model])
    if (read > 0 && this.#readers.size < MAX_KEYS) this.#readers.add(key)
    return this.#readers.has(key)
  }

  /** Takes what the accounts of a tenant have, where nothing later is known. */
  restore(tenant: string, { conversations }: Pick<TenantBill, 'conversations'>): void {
    for (const { id: conversation, vendor, session, seen, model, account } of conversations) {
      this.reads({ tenant, vendor }, model, account.usage.cache_read)
      if (seen === undefined) continue
      const place = { tenant, vendor, conversation, session }
      const known = this.#seen.get(keyOf(place, seen.next)) ?? []
      if (known.every(({ at }) => at < seen.at)) this.remember(place, seen, null)
    }
  }
}

/** The first message of the model is in no other conversation, also if what precedes it changes. */
function keyOf({ tenant, vendor, conversation, session }: PromptPlace, next: string | null) {
  const name = next === null ? ['opening', conversation, session ?? ''] : ['next', next]
  return JSON.stringify([tenant, vendor, ...name])
}
