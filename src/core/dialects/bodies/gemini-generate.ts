import {
  items,
  itemsOf,
  type JsonNode,
  memberOf,
  members,
  RANGE,
  type Selection,
} from '../../json/bytes/json-node.ts'
import { speaksOfForgetting } from '../forgetting/speaks-of-forgetting.ts'
import type { ConversationReader } from './conversation-reader.ts'
import { addObjectCall, namesIn, type Route, requestOf } from './route.ts'
import { MAY_CALL_ALL, MAY_CALL_NONE, mayCallOnly } from './tool-choice.ts'

const NAMED = members({ name: RANGE })
const CALL = members({ id: RANGE, name: RANGE, args: RANGE })
const RESPONSE = members({ id: RANGE, name: RANGE, response: members({ error: RANGE }) })

/** The same selection by each spelling. */
function named(names: readonly string[], selection: Selection): Record<string, Selection> {
  return Object.fromEntries(names.map(name => [name, selection]))
}

/** Parsers of Protocol Buffers take both spellings of a name. */
const CALLS = ['functionCall', 'function_call'] as const
const RESPONSES = ['functionResponse', 'function_response'] as const
const DECLARATIONS = ['functionDeclarations', 'function_declarations'] as const

const PART = members(
  {
    ...named(CALLS, CALL),
    ...named(RESPONSES, RESPONSE),
  },
  speaksOfForgetting,
)
const CONTENT = members({ role: RANGE, parts: items(PART) }, speaksOfForgetting)
const CONFIGS = ['toolConfig', 'tool_config'] as const
const CALLING = ['functionCallingConfig', 'function_calling_config'] as const
const ALLOWED = ['allowedFunctionNames', 'allowed_function_names'] as const
const CONFIG = members(named(CALLING, members({ mode: RANGE, ...named(ALLOWED, items(RANGE)) })))

/** Modes in which the model chooses, by their names or as numbers of the enumeration. */
const FREE = /^(?:"(?:MODE_UNSPECIFIED|AUTO|ANY|VALIDATED)"|[012])$/

const TOOL = members(named(DECLARATIONS, items(NAMED)))

/**
 * `models/NAME:generateContent` and the like of Gemini
 * (https://ai.google.dev/api/generate-content). A result is an object, so its strings are its
 * texts.
 */
export const geminiGenerate: Route = {
  command: 'gemini',
  signs: [['contents', ({ body }) => 'contents' in body]],
  // https://ai.google.dev/api/generate-content#UsageMetadata
  usage: {
    places: {
      modelVersion: 'model',
      usageMetadata: {
        promptTokenCount: 'input',
        cachedContentTokenCount: 'cache_read',
        toolUsePromptTokenCount: 'tool_input',
        candidatesTokenCount: 'output',
        thoughtsTokenCount: 'thoughts',
      },
    },
    inputIsUncached: false,
  },
  request: requestOf({
    tools: items(TOOL),
    contents: items(CONTENT),
    ...named(CONFIGS, CONFIG),
  }),
  list: 'contents',
  listOptional: false,

  toolNames(request, reader) {
    const lists = itemsOf(memberOf(request, 'tools')).flatMap(tool =>
      tool.doubled ? [] : DECLARATIONS.map(name => memberOf(tool, name)),
    )
    return namesIn(lists.flatMap(itemsOf), ['name'], reader)
  },

  mayCall(request, reader) {
    const config = onlyOne(request, CONFIGS)
    const calling = config && onlyOne(config, CALLING)
    if (request.doubled || config?.doubled) return MAY_CALL_NONE
    if (calling === undefined) return MAY_CALL_ALL
    const allowed = onlyOne(calling, ALLOWED)
    const mode = memberOf(calling, 'mode')
    const said = mode && reader.body.toString('latin1', mode.start, mode.end)
    if (calling.doubled || (said !== undefined && !FREE.test(said))) return MAY_CALL_NONE
    const names = itemsOf(allowed).flatMap(each => reader.text(each) ?? [])
    return names.length === 0 ? MAY_CALL_ALL : mayCallOnly(names)
  },

  isOfModel: (node, reader) => reader.text(memberOf(node, 'role')) === 'model',

  readMessage(node, message, reader) {
    // A request with one message may leave its role out.
    const role = node.doubled ? undefined : (reader.text(memberOf(node, 'role')) ?? 'user')
    reader.passMessage(role, message)
    for (const [block, part] of itemsOf(memberOf(node, 'parts')).entries()) {
      reader.passWall(part)
      const call = onlyOne(part, CALLS)
      const response = onlyOne(part, RESPONSES)
      const isUnclear = node.doubled || part.doubled
      if (call !== undefined) {
        const key = keyOf(call, reader)
        addObjectCall(call, { key, message, args: 'args', isUnclear }, reader)
      }
      if (response === undefined) continue
      reader.passResult()
      if (isUnclear || response.doubled) reader.forgetCall(keyOf(response, reader))
      else addResult(response, { message, block }, reader)
    }
  },
}

/** The member by either spelling; if there are both, what has them is not clear. */
function onlyOne(part: JsonNode, names: readonly string[]): JsonNode | undefined {
  const found = names.map(name => memberOf(part, name)).filter(each => each !== undefined)
  if (found.length > 1) part.doubled = true
  return found[0]
}

function addResult(
  node: JsonNode,
  at: { readonly message: number; readonly block: number },
  reader: ConversationReader,
): void {
  const callId = reader.text(memberOf(node, 'id'))
  const call = reader.takeCall(keyOf(node, reader))
  const tool = call?.tool ?? reader.text(memberOf(node, 'name'))
  const response = memberOf(node, 'response')
  const isError = reader.isSet(memberOf(response, 'error'))
  reader.addStrings([response], at, { call, tool, callId, isError })
}

/** Many clients send no ids: then results answer the last calls of their names, in order. */
function keyOf(node: JsonNode, reader: ConversationReader): string | undefined {
  const id = reader.text(memberOf(node, 'id'))
  if (id !== undefined && id !== '') return `id ${id}`
  const name = reader.text(memberOf(node, 'name'))
  return name === undefined ? undefined : `name ${name}`
}
