import { bareModelName } from '../../tokens/profiles.ts'

/** Ends a pattern that represents every model with this prefix. */
const ANY = '*'

/**
 * Suffixes that vendors put after a model's name and version: a date, `-latest`, `-v1:0`,
 * `:latest`. Each is bounded, so that no id takes long.
 */
const RELEASE = /(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-\d{4}|[-:@]latest|-v\d{1,2}(?::\d{1,2})?)$/

/** Most releases in a row, as in `-20250514-v1:0`. */
const MAX_RELEASES = 3

/**
 * The pattern that fits the model best, or `undefined`. A pattern is a model's name, in whatever
 * spelling its vendor and resellers use, or a prefix of names with `*` at its end. A whole name
 * takes precedence over a prefix, and a longer prefix over a shorter one; `*` alone fits requests
 * without a model too.
 * @param model as the client sent it
 */
export function matchModel(
  patterns: readonly string[],
  model: string | undefined,
): string | undefined {
  // Most configurations name no model, and every request asks.
  if (patterns.length === 0) return undefined
  const name = model === undefined ? '' : canonical(model)
  let best: string | undefined
  let longest = -1
  for (const pattern of patterns) {
    const isPrefix = pattern.endsWith(ANY)
    const text = isPrefix ? spelling(pattern.slice(0, -1)) : canonical(pattern)
    if (isPrefix ? !name.startsWith(text) : name === '' || name !== text) continue
    const length = isPrefix ? text.length : Number.POSITIVE_INFINITY
    if (length <= longest) continue
    longest = length
    best = pattern
  }
  return best
}

/** The name alone, `claude-sonnet-4-6` for `us.anthropic.claude-sonnet-4.6-20260101-v1:0`. */
function canonical(model: string): string {
  let name = bareModelName(model)
  for (let i = 0; i < MAX_RELEASES; i++) name = name.replace(RELEASE, '')
  return spelling(name)
}

/** A dot after a digit is equal to a dash. */
function spelling(name: string): string {
  return name.toLowerCase().replace(/(?<=\d)\./g, '-')
}
