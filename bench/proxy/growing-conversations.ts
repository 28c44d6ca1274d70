import type { RouteName } from '../../src/core/dialects/lookup.ts'
import { generatedTexts } from '../../test/support/generated-text.ts'
import { type Step, turnBody } from '../../test/support/turns/bodies.ts'
import { conversationsOf } from '../turns/conversations.ts'

/**
 * Requests of one conversation, each with one more result than the one before, and of about the
 * size that was asked for.
 */
export interface GrowingConversation {
  /** Has all the history; it is sent before anything is measured. */
  readonly first: Uint8Array<ArrayBuffer>
  readonly turns: readonly Uint8Array<ArrayBuffer>[]
}

/** A body may be smaller or larger than asked for by this share. */
const SPREAD = 0.12
/** A result is not to be more than this share of a body. */
const LARGEST_STEP = 0.04
/**
 * No two conversations are to begin alike: a step that many places further on, coprime to any usual
 * number of steps.
 */
const STRIDE = 211
const TERMS = { model: 'claude-opus-4-1', tools: ['Read', 'Bash'] }

/** Recorded results, all in their order; made-up ones where there is no corpus. */
export function stepsFor(corpus = ''): readonly Step[] {
  if (corpus !== '') return conversationsOf(corpus).flatMap(({ steps }) => steps)
  return generatedTexts(9, 800).map((text, id) => ({
    tool: 'Bash',
    args: { id },
    text,
    isError: false,
  }))
}

/**
 * The n-th conversation of bodies of about `bytes` bytes, as an agent of Anthropic's sends them, or
 * one of another API.
 */
export function growingConversation(
  all: readonly Step[],
  n: number,
  bytes: number,
  route: RouteName = 'anthropic_messages',
): GrowingConversation {
  const steps: Step[] = []
  const bodies: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for (let at = n * STRIDE; length < bytes * (1 + SPREAD); at++) {
    const step = all[at % all.length]!
    steps.push({ ...step, text: step.text.slice(0, bytes * LARGEST_STEP).toWellFormed() })
    length += JSON.stringify(steps.at(-1)).length
    if (length < bytes * (1 - SPREAD)) continue
    const turn = { end: steps.length, before: steps.length - 1 }
    bodies.push(turnBody(route, steps, turn, TERMS))
  }
  const [first, ...turns] = bodies
  return { first: first!, turns }
}
