import {
  items,
  itemsOf,
  type JsonNode,
  memberOf,
  members,
  RANGE,
} from '../../json/bytes/json-node.ts'
import { speaksOfForgetting } from '../forgetting/speaks-of-forgetting.ts'
import { BREAKPOINT_KEYS, type ConversationReader, TEXT_PARTS } from './conversation-reader.ts'
import { type FigurePlaces, namesIn, type Route, requestOf } from './route.ts'
import { mayCallBy, TOOL_CHOICE } from './tool-choice.ts'
import type { ToolCall } from './tool-result-text.ts'

const TEXT_TYPES: ReadonlySet<string> = new Set(['text'])

const MESSAGE = members(
  {
    role: RANGE,
    type: RANGE,
    name: RANGE,
    content: TEXT_PARTS,
    tool_call_id: RANGE,
    tool_calls: items(
      members({
        id: RANGE,
        function: members({ name: RANGE, arguments: RANGE }),
        custom: members({ name: RANGE, input: RANGE }),
      }),
    ),
    function_call: members({ name: RANGE, arguments: RANGE }),
    ...BREAKPOINT_KEYS,
  },
  speaksOfForgetting,
)

const NAMED = members({ name: RANGE })

/** Input figures of the chat completions and of the responses. */
export const INPUT_FIGURES: FigurePlaces = {
  cached_tokens: 'cache_read',
  cache_write_tokens: 'cache_write',
  cache_write_tokens_details: { ttl_12h_tokens: 'cache_write_long' },
}

/** `/v1/chat/completions` (https://platform.openai.com/docs/api-reference/chat). */
export const openaiChat: Route = {
  command: 'chat',
  signs: [
    [
      'messages of the role tool or function',
      ({ messages }) => messages.some(({ role }) => role === 'tool' || role === 'function'),
    ],
    [
      'messages of the role system or developer',
      ({ messages }) => messages.some(({ role }) => role === 'system' || role === 'developer'),
    ],
    [
      'tool_calls in messages',
      ({ messages }) =>
        messages.some(message => 'tool_calls' in message || 'function_call' in message),
    ],
    ['tools with function', ({ tools }) => tools.some(tool => 'function' in tool)],
  ],
  usage: {
    places: {
      model: 'model',
      usage: {
        prompt_tokens: 'input',
        completion_tokens: 'output',
        prompt_tokens_details: INPUT_FIGURES,
      },
    },
    inputIsUncached: false,
  },
  retrieving: {
    turns: 'choices',
    define: (name, description, schema) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    }),
    ping: ': ping\n\n',
  },
  request: requestOf({
    tools: items(members({ function: NAMED, custom: NAMED, ...BREAKPOINT_KEYS })),
    tool_choice: TOOL_CHOICE,
    function_call: TOOL_CHOICE,
    reasoning_effort: RANGE,
    response_format: RANGE,
    functions: items(NAMED),
    messages: items(MESSAGE),
  }),
  list: 'messages',
  listOptional: false,
  head: {
    system: undefined,
    textType: 'text',
    systemRoles: ['system', 'developer'],
    effort: ['reasoning_effort'],
    toolNames: [
      ['function', 'name'],
      ['custom', 'name'],
    ],
    hasToolBreakpoints: false,
  },

  toolNames(request, reader) {
    const tools = itemsOf(memberOf(request, 'tools'))
    return [
      ...namesIn(tools, ['function', 'name'], reader),
      ...namesIn(tools, ['custom', 'name'], reader),
      ...namesIn(itemsOf(memberOf(request, 'functions')), ['name'], reader),
    ]
  },

  mayCall(request, reader) {
    const [now, before] = ['tool_choice', 'function_call'].map(key =>
      mayCallBy(memberOf(request, key), reader),
    )
    return tool => now!(tool) && before!(tool)
  },

  isOfModel: (node, reader) => reader.text(memberOf(node, 'role')) === 'assistant',

  readMessage(node, message, reader) {
    for (const part of itemsOf(memberOf(node, 'content'))) reader.passWall(part)
    if (node.doubled) {
      passDoubled(node, reader)
      return
    }
    const role = reader.text(memberOf(node, 'role'))
    reader.passMessage(role, message)
    if (role === 'assistant') addCalls(node, message, reader)
    const isTool = role === 'tool'
    if (isTool || role === 'function') {
      reader.passResult()
      const name = reader.text(memberOf(node, 'name'))
      const callId = isTool ? reader.text(memberOf(node, 'tool_call_id')) : undefined
      const call = reader.takeCall(isTool ? idKey(callId) : nameKey(name))
      const source = { call, tool: call?.tool ?? name, callId, isError: false }
      reader.addTexts(memberOf(node, 'content'), { message, block: 0 }, source, TEXT_TYPES)
    } else for (const part of itemsOf(memberOf(node, 'content'))) reader.addBreakpoints(part)
    reader.addBreakpoints(node)
  },
}

/** Counts the calls and results of a message with doubled keys. */
function passDoubled(node: JsonNode, reader: ConversationReader): void {
  const role = reader.text(memberOf(node, 'role'))
  if (role === 'tool' || role === 'function') reader.passResult()
  reader.forgetCall(idKey(reader.text(memberOf(node, 'tool_call_id'))))
  for (const each of itemsOf(memberOf(node, 'tool_calls'))) passDoubledCall(each, reader)
  if (memberOf(node, 'function_call') !== undefined) reader.passCall()
}

function passDoubledCall(node: JsonNode, reader: ConversationReader): void {
  reader.passCall()
  reader.forgetCall(idKey(reader.text(memberOf(node, 'id'))))
}

function addCalls(node: JsonNode, message: number, reader: ConversationReader): void {
  for (const each of itemsOf(memberOf(node, 'tool_calls'))) {
    if (each.doubled) {
      passDoubledCall(each, reader)
      continue
    }
    const custom = memberOf(each, 'custom')
    const called = memberOf(each, 'function') ?? custom
    const call = callOf(called, called === custom ? 'input' : 'arguments', reader)
    reader.addCall(idKey(reader.text(memberOf(each, 'id'))), message, call)
  }
  const old = memberOf(node, 'function_call')
  if (old === undefined || old.members === null) return
  const call = callOf(old, 'arguments', reader)
  reader.addCall(nameKey(call.tool), message, call)
}

function callOf(called: JsonNode | undefined, args: string, reader: ConversationReader): ToolCall {
  const known = called?.doubled ? undefined : called
  return {
    tool: reader.text(memberOf(known, 'name')),
    argsAt: memberOf(known, args),
    areText: true,
    ordinal: reader.passCall(),
    byProgram: false,
  }
}

/** Messages of the role `function` have no id: they answer the last call of that name. */
function nameKey(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `name ${name}`
}

function idKey(id: string | undefined): string | undefined {
  return id === undefined ? undefined : `id ${id}`
}
