import { ObjectValue } from '../../json/value.ts'
import { speaksOfForgetting } from './speaks-of-forgetting.ts'
import { VENDOR_FORGETTING } from './vendor-forgetting.ts'

/**
 * Members that hold texts, schemas or names instead of settings. What they have inside says nothing
 * about what a provider does.
 */
const NO_SETTINGS: ReadonlySet<string> = new Set(
  `messages input contents system instructions systemInstruction system_instruction tools functions
  toolConfig tool_config tool_choice toolChoice function_call response_format responseSchema
  response_schema responseJsonSchema schema json_schema output_config output_format text format
  guided_json structured_outputs prediction documents prompt prompt_variables promptVariables
  metadata requestMetadata client_metadata labels model models user stop stop_sequences logit_bias
  anthropic_beta betas`.split(/\s+/),
)

const FIELDS: ReadonlySet<string> = new Set(VENDOR_FORGETTING.flatMap(({ fields }) => fields))
const ITEMS: ReadonlySet<string> = new Set(VENDOR_FORGETTING.flatMap(({ items = [] }) => items))

/** What is looked for in members that are not parsed. */
export const KNOWN_NAMES: readonly string[] = [...FIELDS, ...ITEMS]

/** Edits about reasoning only; Claude Code asks for one with every request. */
const CLEARS_THINKING = /^clear_thinking_\d+$/

/** What says that a setting does not act. */
const OFF = /^(?:disabled?|off|none|never|no|false|)$/i

/** Members by which an item of a list is named. */
const NAMES: readonly string[] = ['id', 'type']

type Members = readonly (readonly [string, unknown])[]

/** Whether a member of a request may hold settings. */
export function mayHoldSettings(name: string): boolean {
  return !NO_SETTINGS.has(name)
}

/**
 * Whether a member of a request lets the provider leave out earlier results by itself: a field that
 * a vendor documents, or one whose name says so, at any depth.
 * @param value from `JSON.parse` or `parseJson`; of members that are there twice each counts
 */
export function letsForget(name: string, value: unknown): boolean {
  if (!mayHoldSettings(name)) return false
  if (FIELDS.has(name) || speaksOfForgetting(name)) return isOn(value) && !clearsThinkingOnly(value)
  if (Array.isArray(value)) return value.some(itemLetsForget)
  return membersOf(value).some(([key, inner]) => letsForget(key, inner))
}

function itemLetsForget(item: unknown): boolean {
  if (Array.isArray(item)) return item.some(itemLetsForget)
  const members = membersOf(item)
  const isNamed = members.some(
    ([key, name]) =>
      NAMES.includes(key) &&
      typeof name === 'string' &&
      (ITEMS.has(name) || speaksOfForgetting(name)),
  )
  if (isNamed) return isOn(item)
  return members.some(([key, inner]) => letsForget(key, inner))
}

/** Whether a setting acts. An object does unless it says that it is not enabled. */
function isOn(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return false
  if (typeof value === 'string') return !OFF.test(value)
  if (Array.isArray(value)) return value.length > 0
  const switches = membersOf(value).filter(([key]) => key === 'enabled')
  return switches.length === 0 || switches.some(([, inner]) => inner !== false)
}

function clearsThinkingOnly(management: unknown): boolean {
  const members = membersOf(management)
  const [edits, ...more] = members.filter(([key]) => key === 'edits')
  const list = edits?.[1]
  if (!Array.isArray(list) || more.length > 0 || list.length === 0) return false
  if (members.some(([key, value]) => key !== 'edits' && letsForget(key, value))) return false
  return list.every(edit => {
    const types = membersOf(edit).filter(([key]) => key === 'type')
    const [type] = types
    return types.length === 1 && typeof type![1] === 'string' && CLEARS_THINKING.test(type![1])
  })
}

/** The members of an object; none of any other value. */
function membersOf(value: unknown): Members {
  if (value instanceof ObjectValue) return value.keys.map((key, i) => [key, value.values[i]])
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value)
}
