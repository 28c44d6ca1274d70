import {
  items,
  itemsOf,
  type JsonNode,
  memberOf,
  members,
  RANGE,
} from '../../json/bytes/json-node.ts'
import { speaksOfForgetting } from '../forgetting/speaks-of-forgetting.ts'
import {
  BREAKPOINT_KEYS,
  CALLER,
  type ConversationReader,
  TEXT_PARTS,
} from './conversation-reader.ts'
import { INPUT_FIGURES } from './openai-chat.ts'
import { type FigurePlaces, namesIn, type Route, requestOf } from './route.ts'
import { mayCallBy, TOOL_CHOICE } from './tool-choice.ts'

const TEXT_TYPES: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text'])

/** Calls that the provider makes itself, whose items have the result too. */
const ANSWERED: ReadonlySet<string> = new Set([
  'mcp_call',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
])

/** An item by which an agent sets the effort of reasoning; it has no role. */
export const CONFIGURATION_ITEM = 'configuration_update'

/** A namespace holds tools of its own. */
const TOOLS = items(members({ type: RANGE, name: RANGE, tools: items(members({ name: RANGE })) }))

const ITEM = members(
  {
    type: RANGE,
    role: RANGE,
    id: RANGE,
    call_id: RANGE,
    name: RANGE,
    arguments: RANGE,
    input: RANGE,
    caller: CALLER,
    output: TEXT_PARTS,
    error: RANGE,
    content: TEXT_PARTS,
    tools: TOOLS,
    ...BREAKPOINT_KEYS,
  },
  speaksOfForgetting,
)

const USAGE: FigurePlaces = {
  model: 'model',
  usage: {
    input_tokens: 'input',
    output_tokens: 'output',
    input_tokens_details: INPUT_FIGURES,
  },
}

/** `/v1/responses` (https://platform.openai.com/docs/api-reference/responses). */
export const openaiResponses: Route = {
  command: 'responses',
  signs: [['input', ({ body }) => 'input' in body]],
  // The events of a response have it inside.
  usage: { places: { ...USAGE, response: USAGE }, inputIsUncached: false },
  retrieving: {
    turns: 'items',
    define: (name, description, schema) => ({
      type: 'function',
      name,
      description,
      parameters: schema,
      strict: false,
    }),
    ping: ': ping\n\n',
  },
  mayBeKept: true,
  hasSocket: true,
  request: requestOf({
    tools: TOOLS,
    input: items(ITEM),
    tool_choice: TOOL_CHOICE,
    previous_response_id: RANGE,
    instructions: RANGE,
    reasoning: members({ effort: RANGE }),
    text: RANGE,
    store: RANGE,
    prompt_cache_key: RANGE,
  }),
  list: 'input',
  listOptional: true,
  head: {
    system: 'instructions',
    textType: 'input_text',
    systemRoles: ['system', 'developer'],
    effort: ['reasoning', 'effort'],
    toolNames: [['name'], ['type']],
    hasToolBreakpoints: false,
  },

  allowsPrograms(request, reader) {
    const tools = itemsOf(memberOf(request, 'tools'))
    return tools.some(
      tool => tool.doubled || reader.text(memberOf(tool, 'type')) === 'programmatic_tool_calling',
    )
  },

  toolNames(request, reader) {
    // Tools may also come into the conversation on the way.
    const lists = [request, ...itemsOf(memberOf(request, 'input'))]
    return lists.flatMap(node => {
      const tools = itemsOf(node.doubled ? undefined : memberOf(node, 'tools'))
      const inner = tools.flatMap(tool =>
        itemsOf(tool.doubled ? undefined : memberOf(tool, 'tools')),
      )
      return namesIn([...tools, ...inner], ['name'], reader)
    })
  },

  mayCall(request, reader) {
    const mayCall = mayCallBy(memberOf(request, 'tool_choice'), reader)
    const spaces = itemsOf(memberOf(request, 'tools')).map(space => ({
      name: reader.text(memberOf(space, 'name')) ?? '',
      tools: namesIn(itemsOf(memberOf(space, 'tools')), ['name'], reader),
    }))
    return tool =>
      mayCall(tool) || spaces.some(({ name, tools }) => tools.includes(tool) && mayCall(name))
  },

  isOfModel(node, reader) {
    const role = reader.text(memberOf(node, 'role'))
    if (role !== undefined) return role === 'assistant'
    // Reasoning and calls have no role, and neither have the results of calls.
    const type = reader.text(memberOf(node, 'type'))
    return type?.endsWith('_output') === false && type !== CONFIGURATION_ITEM
  },

  readMessage(node, message, reader) {
    const type = reader.text(memberOf(node, 'type')) ?? ''
    for (const part of itemsOf(memberOf(node, 'content'))) reader.passWall(part)
    if (ANSWERED.has(type) || type.endsWith('_output')) reader.passResult()
    const ordinal = type.endsWith('_call') ? reader.passCall() : 0
    if (node.doubled) {
      reader.forgetCall(reader.text(memberOf(node, 'call_id')))
      return
    }
    reader.passMessage(reader.text(memberOf(node, 'role')), message)
    const at = { message, ordinal }
    if (type === 'function_call') addCall(node, at, 'arguments', reader)
    else if (type === 'custom_tool_call') addCall(node, at, 'input', reader)
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      addOutput(node, message, reader)
    } else if (type === 'mcp_call') addCallWithOutput(node, at, reader)
    for (const part of itemsOf(memberOf(node, 'content'))) reader.addBreakpoints(part)
    reader.addBreakpoints(node)
  },
}

/** The item of a call, and how many calls stand before it. */
interface CallPlace {
  readonly message: number
  readonly ordinal: number
}

function addCall(
  node: JsonNode,
  { message, ordinal }: CallPlace,
  args: string,
  reader: ConversationReader,
): void {
  reader.addCall(reader.text(memberOf(node, 'call_id')), message, {
    tool: reader.text(memberOf(node, 'name')),
    argsAt: memberOf(node, args),
    areText: true,
    ordinal,
    byProgram: reader.isProgram(node),
  })
}

function addOutput(node: JsonNode, message: number, reader: ConversationReader): void {
  const callId = reader.text(memberOf(node, 'call_id'))
  const call = reader.takeCall(callId)
  // Perhaps only the provider has the call. Then only the tools show whether a program can have
  // made it.
  const byProgram = call?.byProgram ?? reader.allowsPrograms
  if (byProgram || reader.isProgram(node)) {
    reader.forPrograms.push({ message, block: 0, tool: call?.tool, callId })
    return
  }
  const source = { call, tool: call?.tool, callId, isError: false }
  reader.addTexts(memberOf(node, 'output'), { message, block: 0 }, source, TEXT_TYPES)
}

/** A call that the provider made itself; one item has both the call and its result. */
function addCallWithOutput(
  node: JsonNode,
  { message, ordinal }: CallPlace,
  reader: ConversationReader,
): void {
  const tool = reader.text(memberOf(node, 'name'))
  const argsAt = memberOf(node, 'arguments')
  const source = {
    call: { tool, argsAt, areText: true, ordinal, byProgram: false },
    tool,
    callId: reader.text(memberOf(node, 'id')),
    isError: reader.isSet(memberOf(node, 'error')),
  }
  reader.addTexts(memberOf(node, 'output'), { message, block: 0 }, source, TEXT_TYPES)
}
