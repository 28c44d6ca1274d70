/**
 * Keys of the published predecessor that could change nothing here, and why; named in the refusal
 * of a file.
 */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  toon_overhead: 'TOON is none of the notations here, since it never wins',
  chars_per_token: 'tokens are counted as docs/reference/tokens.md says; profiles only weigh',
  bpe: 'tokens are counted as docs/reference/tokens.md says; profiles only weigh',
  format_factors: 'notations are compared by counted tokens',
  context_window: 'a request says its own budget',
  margin: 'what leaves is counted, never estimated from characters',
  priority: 'choices take no time that could be saved; set recursion_depth',
  hint_aggressiveness: 'a hint is sent where it saves; set hints.types',
  auto_detect_window: 'an agent variant is set by name, so that a session does not change midway',
  mckp_recursion_depth: 'it is called recursion_depth here',
}
