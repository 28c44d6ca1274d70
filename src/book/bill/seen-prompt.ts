import { z } from 'zod'
import type { PromptPrint } from '../../core/contract/prompt-print.ts'
import type { MissReason } from './misses.ts'

const number = z.int().nonnegative()

const guardSchema = z.object({ isLong: z.boolean(), premium: z.number(), spent: z.number() })

/** What an hour within the budget would have come to; costs are uncached input tokens. */
export type Guard = Readonly<z.output<typeof guardSchema>>

/** What is remembered of the last prompt of a conversation that the provider answered. */
export const seenPromptSchema = z.object({
  at: z.number(),
  /** When others could read what it cached: its answer had begun. */
  begun_at: z.number(),
  life_ms: z.number(),
  turns: number,
  model: number,
  tools: number,
  system: number,
  first_message: number,
  settings: number,
  next: z.string().nullable(),
  /** Messages after the opening, and the sum over them. */
  messages: number,
  history: number,
  /** Results, and the sum over them as they were sent; `null`: as the client sent them. */
  results: number,
  sent: number.nullable(),
  /** Content blocks before the last breakpoint; `null`: there is none, or none that counts. */
  ends: number.nullable(),
  /** Tokens that the provider had cached from then on. */
  cached: number,
  guard: guardSchema.optional(),
})

export type SeenPrompt = Readonly<z.output<typeof seenPromptSchema>>

export function seenPrompt(
  print: PromptPrint,
  { cached, begunMs, guard }: { cached: number; begunMs: number; guard: Guard },
): SeenPrompt {
  const { history, sent, breakpoints, ...same } = print
  return {
    ...same,
    begun_at: print.at + begunMs,
    messages: history.length,
    history: history.at(-1) ?? 0,
    results: sent?.length ?? 0,
    sent: sent === undefined ? null : (sent.at(-1) ?? 0),
    ends: breakpoints?.at(-1) ?? null,
    cached,
    guard,
  }
}

/** Whether a prompt has all messages of an earlier one at their places. */
export function continues({ messages, history }: SeenPrompt, { history: now }: PromptPrint) {
  return messages === 0 || now[messages - 1] === history
}

/** Whether a prompt is sent once more, or with one turn more. */
export function isNextTurn({ turns }: SeenPrompt, { turns: now }: PromptPrint): boolean {
  return now === turns || now === turns + 1
}

/** Content blocks before a breakpoint in which Anthropic looks for an entry. */
const LOOK_BACK = 20

/**
 * Why a provider did not read what it had cached of an earlier prompt; the first reason that holds.
 * @param isChanged whether we sent another prefix than before
 * @returns `null` if that is not known: another request came between them, or both at once
 */
export function missReason(
  before: SeenPrompt,
  now: PromptPrint,
  isChanged: boolean,
): MissReason | null {
  const isContinued = continues(before, now)
  if (now.at < before.begun_at || (isContinued && !isNextTurn(before, now))) return null
  if (now.at - before.at > before.life_ms) return 'idle'
  if (isChanged || (isContinued && isSentOtherwise(before, now))) return 'own'
  for (const part of ['model', 'tools', 'system', 'first_message', 'settings'] as const) {
    if (before[part] !== now[part]) return part
  }
  if (!isContinued) return 'history'
  return reaches(before, now) ? 'provider' : 'blocks'
}

function isSentOtherwise({ results, sent: before }: SeenPrompt, { sent }: PromptPrint): boolean {
  return sent !== undefined && results > 0 && sent[results - 1] !== before
}

/** Whether a breakpoint is near enough to find the entry that the last one made. */
function reaches({ ends }: SeenPrompt, { breakpoints }: PromptPrint): boolean {
  if (ends === null || breakpoints === undefined) return true
  return breakpoints.some(each => ends <= each && each - ends <= LOOK_BACK)
}
