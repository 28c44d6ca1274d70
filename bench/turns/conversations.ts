import type { RouteName } from '../../src/core/dialects/lookup.ts'
import { type ContextResult, readSessions } from '../support/corpus.ts'

/** The model of each shape of requests. */
export const MODELS: Readonly<Record<RouteName, string>> = {
  anthropic_messages: 'claude-sonnet-4-5',
  openai_chat: 'gpt-5',
  openai_responses: 'gpt-5',
  gemini_generate: 'gemini-2.5-pro',
  bedrock_converse: 'anthropic.claude-sonnet-4-5',
}

/** What happened between two compactions of an agent's context: one conversation to a provider. */
export interface Conversation {
  /** The recording that it is from. */
  readonly source: string
  readonly name: string
  readonly steps: readonly ContextResult[]
}

/** All recorded conversations, in the order of the corpus. A compaction begins another one. */
export function conversationsOf(corpus: string): readonly Conversation[] {
  const found: Conversation[] = []
  for (const [source, results] of readSessions(corpus)) {
    const byName = Map.groupBy(results, ({ session, epoch }) => `${session}/${epoch}`)
    for (const [name, steps] of byName) found.push({ source, name, steps })
  }
  return found
}

/**
 * How many steps a conversation has at each of its turns, ascending. One step a turn, in long
 * conversations as many as it takes to have no more than `most` turns.
 */
export function turnsOf({ steps }: Conversation, most: number): readonly number[] {
  const stride = Math.ceil(steps.length / most)
  const ends: number[] = []
  for (let end = stride; end < steps.length; end += stride) ends.push(end)
  return [...ends, steps.length]
}
