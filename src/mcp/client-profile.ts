/** How a client shows results to its model. */
export interface ClientProfile {
  /**
   * Whether its model is given `structuredContent` in place of the texts, with or without a schema.
   */
  readonly showsStructured: boolean
}

/**
 * Clients that were seen to give the model `JSON.stringify(structuredContent)` and to drop the
 * texts, by `clientInfo.name`.
 */
const SHOW_STRUCTURED: readonly RegExp[] = [
  /^claude-code\b/i,
  /^codex\b/i,
  /^opencode\b/i,
  /^visual studio code\b/i,
]

/** @param name `clientInfo.name`; `null` if the client names none */
export function clientProfile(name: string | null): ClientProfile {
  const known = name ?? ''
  return { showsStructured: SHOW_STRUCTURED.some(pattern => pattern.test(known)) }
}
