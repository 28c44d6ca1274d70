/** Longer ones are no names of fields or types. */
const MAX_NAME_CHARS = 64

/** Only a name with one of these can speak of forgetting. */
const MAY_SPEAK = /truncat|compact|clear|context|prompt|histor|conversation|messages|input/i

/** Word starts that speak by themselves: "truncation", "compacted", "clear_tool_uses". */
const BY_ITSELF = /^(?:truncat|compact|clear(?:$|s$|ed$|ing$))/

/** What a prompt is called. */
const PROMPT = /^(?:contexts?|prompts?|histor|conversations?|messages|inputs?)/

/** What is done to it: "context_management", "contextOverflowPolicy", "prompt-compression". */
const DONE =
  /^(?:manage|edit|compress|overflow|shift|trim|prun|evict|slid|drop|shorten|forget|roll)/

/** About reasoning only (https://docs.z.ai/guides/capabilities/thinking-mode). */
const OF_THINKING = /^clear_thinking(?:_\d+)?$/

/**
 * Whether the name of a field, or of a type, speaks of truncating, compacting, clearing or of
 * context management. So what no list knows yet counts too.
 */
export function speaksOfForgetting(name: string): boolean {
  if (name.length > MAX_NAME_CHARS || !MAY_SPEAK.test(name) || OF_THINKING.test(name)) return false
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (words.some(word => BY_ITSELF.test(word))) return true
  return words.some(word => PROMPT.test(word)) && words.some(word => DONE.test(word))
}
