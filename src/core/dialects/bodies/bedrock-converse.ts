import {
  items,
  itemsOf,
  type JsonNode,
  memberOf,
  members,
  RANGE,
} from '../../json/bytes/json-node.ts'
import { speaksOfForgetting } from '../forgetting/speaks-of-forgetting.ts'
import type { ConversationReader } from './conversation-reader.ts'
import { addObjectCall, namesIn, type Route, requestOf } from './route.ts'
import { MAY_CALL_ALL, MAY_CALL_NONE, mayCallOnly } from './tool-choice.ts'

const BLOCK = members(
  {
    toolUse: members({ toolUseId: RANGE, name: RANGE, input: RANGE }),
    toolResult: members({
      toolUseId: RANGE,
      status: RANGE,
      content: items(members({ text: RANGE, json: RANGE })),
    }),
    cachePoint: RANGE,
  },
  speaksOfForgetting,
)

/**
 * `/model/NAME/converse` of Amazon Bedrock
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html). A result is
 * a list of texts and of JSON values, whose strings are its texts, too.
 */
export const bedrockConverse: Route = {
  command: 'converse',
  signs: [
    ['toolConfig', ({ body }) => 'toolConfig' in body],
    [
      'blocks with toolUse or toolResult',
      ({ blocks }) => blocks.some(block => 'toolUse' in block || 'toolResult' in block),
    ],
  ],
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
  usage: {
    places: {
      usage: {
        inputTokens: 'input',
        outputTokens: 'output',
        cacheReadInputTokens: 'cache_read',
        cacheWriteInputTokens: 'cache_write',
      },
    },
    inputIsUncached: true,
    hasOwnFrames: true,
  },
  request: requestOf({
    toolConfig: members({
      tools: items(members({ toolSpec: members({ name: RANGE }) })),
      toolChoice: members({ auto: RANGE, any: RANGE, tool: members({ name: RANGE }) }),
    }),
    messages: items(members({ role: RANGE, content: items(BLOCK) }, speaksOfForgetting)),
  }),
  list: 'messages',
  listOptional: false,

  toolNames(request, reader) {
    const config = memberOf(request, 'toolConfig')
    const tools = itemsOf(config?.doubled ? undefined : memberOf(config, 'tools'))
    return namesIn(tools, ['toolSpec', 'name'], reader)
  },

  mayCall(request, reader) {
    const config = memberOf(request, 'toolConfig')
    const choice = memberOf(config, 'toolChoice')
    if (choice === undefined || !reader.isSet(choice)) return MAY_CALL_ALL
    if (config?.doubled || choice.doubled) return MAY_CALL_NONE
    if (memberOf(choice, 'auto') ?? memberOf(choice, 'any')) return MAY_CALL_ALL
    const name = reader.text(memberOf(memberOf(choice, 'tool'), 'name'))
    return mayCallOnly(name === undefined ? [] : [name])
  },

  isOfModel: (node, reader) => reader.text(memberOf(node, 'role')) === 'assistant',

  readMessage(node, message, reader) {
    reader.passMessage(node.doubled ? undefined : reader.text(memberOf(node, 'role')), message)
    for (const [block, each] of itemsOf(memberOf(node, 'content')).entries()) {
      reader.passWall(each)
      const isUnclear = node.doubled || each.doubled
      const call = memberOf(each, 'toolUse')
      if (call !== undefined) {
        const key = reader.text(memberOf(call, 'toolUseId'))
        addObjectCall(call, { key, message, args: 'input', isUnclear }, reader)
      }
      const result = memberOf(each, 'toolResult')
      if (result !== undefined) addResult(result, { message, block }, isUnclear, reader)
      if (memberOf(each, 'cachePoint') !== undefined) reader.addBreakpointBlock(each)
    }
  },
}

function addResult(
  node: JsonNode,
  at: { readonly message: number; readonly block: number },
  isUnclear: boolean,
  reader: ConversationReader,
): void {
  reader.passResult()
  const callId = reader.text(memberOf(node, 'toolUseId'))
  const content = memberOf(node, 'content')
  const isDoubled = itemsOf(content).some(part => part.doubled)
  if (isUnclear || node.doubled || isDoubled) {
    reader.forgetCall(callId)
    return
  }
  const call = reader.takeCall(callId)
  const isError = reader.text(memberOf(node, 'status')) === 'error'
  const values = itemsOf(content).map(part => memberOf(part, 'text') ?? memberOf(part, 'json'))
  reader.addStrings(values, at, { call, tool: call?.tool, callId, isError })
}
