import type { RewriteReport } from '../../core/contract/operation-result.ts'
import type { Logger } from '../../observability/logger.ts'

type PromptChange = NonNullable<RewriteReport['head_change']>

/** Warns of prompts that change where a provider's cache needs them to stay. */
export interface PromptWarnings {
  /** Warns once of each kind for a tenant. The warning never has what changed. */
  changed(tenant: string, change: PromptChange): void
}

const CHANGED = 'a prompt changes before its conversation, so its cache is lost'
const EQUAL =
  'conversations have the same text behind different beginnings: with it first, ' +
  'they could share a cache'

/** Tenants that are remembered; later ones are not warned. */
const MAX_TENANTS = 10_000

export function createPromptWarnings(logger: Pick<Logger, 'warn'>): PromptWarnings {
  const warned = new Map<string, Set<string>>()
  return {
    changed(tenant, { kind, place, at, scope }) {
      const kinds = warned.get(tenant) ?? new Set()
      if (kinds.has(kind) || (kinds.size === 0 && warned.size >= MAX_TENANTS)) return
      warned.set(tenant, kinds.add(kind))
      const fields = { tenant, kind, place, at, scope }
      logger.warn(fields, scope === 'openings' ? EQUAL : CHANGED)
    },
  }
}

/** The change, and the other kinds that came with it. */
export function eachChange(change: PromptChange | undefined): readonly PromptChange[] {
  if (change === undefined) return []
  const { also = [], ...first } = change
  return [first, ...also.map(each => ({ ...each, scope: first.scope }))]
}
