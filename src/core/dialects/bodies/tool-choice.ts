import {
  items,
  itemsOf,
  type JsonNode,
  memberOf,
  members,
  RANGE,
} from '../../json/bytes/json-node.ts'
import type { ConversationReader } from './conversation-reader.ts'

/** Whether a request lets the model call a tool that it defines. */
export type MayCall = (tool: string) => boolean

export const MAY_CALL_ALL: MayCall = () => true
export const MAY_CALL_NONE: MayCall = () => false

const NAMED = members({ name: RANGE })
const TOOLS = items(members({ name: RANGE, function: NAMED, custom: NAMED }))

/**
 * What is read of `tool_choice`, in every spelling of Anthropic's and OpenAI's APIs: a mode, an
 * object with a mode as its type, one tool, or a list of tools that are allowed.
 */
export const TOOL_CHOICE = members({
  type: RANGE,
  name: RANGE,
  function: NAMED,
  custom: NAMED,
  tools: TOOLS,
  allowed_tools: members({ tools: TOOLS }),
})

/** Modes that leave the choice of the tool to the model. */
const FREE: ReadonlySet<string> = new Set(['auto', 'any', 'required'])

/** The tools that a `tool_choice` lets the model call; all if it is absent or `null`. */
export function mayCallBy(choice: JsonNode | undefined, reader: ConversationReader): MayCall {
  if (choice === undefined || !reader.isSet(choice)) return MAY_CALL_ALL
  if (choice.doubled) return MAY_CALL_NONE
  const mode = reader.text(choice) ?? reader.text(memberOf(choice, 'type'))
  if (mode !== undefined && FREE.has(mode)) return MAY_CALL_ALL
  const allowed = memberOf(choice, 'allowed_tools')
  const lists = [choice, allowed].flatMap(each => itemsOf(plain(memberOf(plain(each), 'tools'))))
  return mayCallOnly([choice, ...lists].flatMap(each => namesOf(each, reader)))
}

/** These tools and no others. */
export function mayCallOnly(names: readonly string[]): MayCall {
  return tool => names.includes(tool)
}

function namesOf(node: JsonNode, reader: ConversationReader): readonly string[] {
  const holders = [plain(node), ...['function', 'custom'].map(key => plain(memberOf(node, key)))]
  return holders.flatMap(holder => reader.text(memberOf(holder, 'name')) ?? [])
}

/** A node of which each member is there once. */
function plain(node: JsonNode | undefined): JsonNode | undefined {
  return node?.doubled ? undefined : node
}
