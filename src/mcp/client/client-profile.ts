import type { ResultLimit } from '../../core/contract/request-terms.ts'

/** How a client shows results to its model. */
export interface ClientProfile {
  /**
   * Whether its model is given `structuredContent` in place of the texts, with or without a schema.
   */
  readonly showsStructured: boolean
  /** What it shows of one result at most; `null` if that is not known. */
  readonly limit: ResultLimit | null
  /** Whether its calls name the context that they are made in. */
  readonly namesContexts: boolean
  /** Whether it searches tools itself, and sends the definitions of those that it found. */
  readonly searchesTools: boolean
}

/** Claude Code refuses results above 25,000 tokens, which it counts by its own vocabulary. */
const CLAUDE_CODE = /^claude-code\b/i
const CLAUDE_CODE_LIMIT: ResultLimit = { above_tokens: 25_000, to_tokens: 20_000 }

/** Clients whose calls were seen to name their conversation in `_meta`. */
const NAME_CONTEXTS: readonly RegExp[] = [/^codex\b/i, /^visual studio code\b/i]

/**
 * Clients that were seen to give the model `JSON.stringify(structuredContent)` and to drop the
 * texts, by `clientInfo.name`. In code mode Codex gives its model's program all of a result, so one
 * text is right there too. `npm run bench -- agents` shows what they do.
 */
const SHOW_STRUCTURED: readonly RegExp[] = [CLAUDE_CODE, /^codex\b/i, /^visual studio code\b/i]

/** Clients that have a tool search of their own. */
const SEARCH_TOOLS: readonly RegExp[] = [CLAUDE_CODE, /^codex\b/i, /^qwen\b/i]

/** @param name `clientInfo.name`; `null` if the client names none */
export function clientProfile(name: string | null): ClientProfile {
  const known = name ?? ''
  const isLike = (patterns: readonly RegExp[]) => patterns.some(pattern => pattern.test(known))
  return {
    showsStructured: isLike(SHOW_STRUCTURED),
    limit: CLAUDE_CODE.test(known) ? CLAUDE_CODE_LIMIT : null,
    namesContexts: isLike(NAME_CONTEXTS),
    searchesTools: isLike(SEARCH_TOOLS),
  }
}
