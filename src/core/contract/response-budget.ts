import { z } from 'zod'
import { VIEW_LEVELS } from '../reduce/views/level.ts'

/** The most tokens that a wish may name. */
const MAX_RESPONSE_TOKENS = 10_000_000

/** A host's wish for the size of one result. Absent: what the configuration says of the tool. */
export const responseBudget = z
  .union([z.enum(VIEW_LEVELS), z.int().positive().max(MAX_RESPONSE_TOKENS)])
  .describe('A level, or tokens that the answer should fit; errors and originals have none')

export type ResponseBudget = z.output<typeof responseBudget>

/**
 * A wish as headers and metadata spell it. Returns `null` if the text is neither a level nor a
 * number of tokens from 1 on.
 */
export function readResponseBudget(text: string): ResponseBudget | null {
  const word = text.trim().toLowerCase()
  const level = VIEW_LEVELS.find(each => each === word)
  if (level !== undefined) return level
  if (!/^[1-9]\d{0,7}$/.test(word)) return null
  const tokens = Number(word)
  return tokens <= MAX_RESPONSE_TOKENS ? tokens : null
}
