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
import { type FigurePlaces, namesIn, type Route, requestOf } from './route.ts'
import { mayCallBy, TOOL_CHOICE } from './tool-choice.ts'

const TEXT_TYPES: ReadonlySet<string> = new Set(['text'])

const BLOCK = members(
  {
    type: RANGE,
    id: RANGE,
    name: RANGE,
    input: RANGE,
    caller: CALLER,
    tool_use_id: RANGE,
    is_error: RANGE,
    content: TEXT_PARTS,
    cache_reference: RANGE,
    ...BREAKPOINT_KEYS,
  },
  speaksOfForgetting,
)

const TOOL = members({
  name: RANGE,
  type: RANGE,
  description: RANGE,
  input_examples: RANGE,
  defer_loading: RANGE,
  ...BREAKPOINT_KEYS,
})

/**
 * Deletes results, by their `cache_reference`, from the provider's cache. The request still has
 * them.
 */
const DELETING = 'cache_edits'

const USAGE: FigurePlaces = {
  model: 'model',
  usage: {
    input_tokens: 'input',
    output_tokens: 'output',
    cache_read_input_tokens: 'cache_read',
    cache_creation_input_tokens: 'cache_write',
    cache_creation: {
      ephemeral_5m_input_tokens: 'cache_write_short',
      ephemeral_1h_input_tokens: 'cache_write_long',
    },
  },
}

/**
 * `/v1/messages` and `/v1/messages/count_tokens`
 * (https://platform.claude.com/docs/en/api/messages).
 */
export const anthropicMessages: Route = {
  command: 'messages',
  signs: [
    [
      'blocks of type tool_use or tool_result',
      ({ blocks }) => blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result'),
    ],
    ['tools with input_schema', ({ tools }) => tools.some(tool => 'input_schema' in tool)],
    [
      'system beside messages',
      ({ body: { system } }) =>
        typeof system === 'string' ||
        (Array.isArray(system) && system.some(block => Object(block)['type'] !== undefined)),
    ],
  ],
  // `message_start` has the message inside, `message_delta` has newer figures at its top.
  usage: { places: { ...USAGE, message: USAGE }, inputIsUncached: true },
  retrieving: {
    turns: 'blocks',
    define: (name, description, schema) => ({ name, description, input_schema: schema }),
    ping: 'event: ping\ndata: {"type": "ping"}\n\n',
  },
  hasBlocks: true,
  request: requestOf({
    cache_control: RANGE,
    system: TEXT_PARTS,
    tools: items(TOOL),
    tool_choice: TOOL_CHOICE,
    output_config: members({ effort: RANGE }),
    output_format: RANGE,
    messages: items(
      members({ role: RANGE, content: items(BLOCK), ...BREAKPOINT_KEYS }, speaksOfForgetting),
    ),
  }),
  list: 'messages',
  listOptional: false,
  head: {
    system: 'system',
    textType: 'text',
    systemRoles: [],
    effort: ['output_config', 'effort'],
    unknownEfforts: ['minimal'],
    toolNames: [['name']],
    hasToolBreakpoints: true,
  },

  toolNames: (request, reader) => namesIn(itemsOf(memberOf(request, 'tools')), ['name'], reader),

  mayCall: (request, reader) => mayCallBy(memberOf(request, 'tool_choice'), reader),

  isOfModel: (node, reader) => reader.text(memberOf(node, 'role')) === 'assistant',

  readMessage(node, message, reader) {
    const role = reader.text(memberOf(node, 'role'))
    if (!node.doubled) reader.passMessage(role, message)
    for (const [block, each] of itemsOf(memberOf(node, 'content')).entries()) {
      const type = reader.text(memberOf(each, 'type'))
      reader.passWall(each)
      if (type === DELETING || reader.isSet(memberOf(each, 'cache_reference'))) {
        reader.isEdited = true
      }
      if (type?.endsWith('tool_result')) reader.passResult()
      const ordinal = type?.endsWith('tool_use') ? reader.passCall() : 0
      if (node.doubled || each.doubled) {
        reader.forgetCall(reader.text(memberOf(each, 'id')))
        reader.forgetCall(reader.text(memberOf(each, 'tool_use_id')))
        continue
      }
      if (type === 'tool_use' && role === 'assistant') addCall(each, { message, ordinal }, reader)
      else if (type === 'tool_result' && role === 'user')
        addResult(each, { message, block }, reader)
      reader.addBreakpoints(each)
    }
    if (!node.doubled) reader.addBreakpoints(node)
  },
}

function addCall(
  node: JsonNode,
  { message, ordinal }: { readonly message: number; readonly ordinal: number },
  reader: ConversationReader,
): void {
  reader.addCall(reader.text(memberOf(node, 'id')), message, {
    tool: reader.text(memberOf(node, 'name')),
    argsAt: memberOf(node, 'input'),
    areText: false,
    ordinal,
    byProgram: reader.isProgram(node),
  })
}

function addResult(
  node: JsonNode,
  place: { readonly message: number; readonly block: number },
  reader: ConversationReader,
): void {
  const callId = reader.text(memberOf(node, 'tool_use_id'))
  const call = reader.takeCall(callId)
  if (call?.byProgram || reader.isProgram(node)) {
    reader.forPrograms.push({ ...place, tool: call?.tool, callId })
    return
  }
  const isError = reader.isSet(memberOf(node, 'is_error'))
  const source = { call, tool: call?.tool, callId, isError }
  reader.addTexts(memberOf(node, 'content'), place, source, TEXT_TYPES)
}
