import { RETRIEVE_TOOL } from '../../contract/retrieve-tool.ts'
import { type Checkpoint, ConversationReader } from '../../dialects/bodies/conversation-reader.ts'
import type { HeadRules, Route } from '../../dialects/bodies/route.ts'
import type { ProgramResult, ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { requestForgets } from '../../dialects/forgetting/request-forgets.ts'
import { bodyRules, type RouteName } from '../../dialects/lookup.ts'
import {
  type JsonBytes,
  type JsonNode,
  memberOf,
  type Selection,
} from '../../json/bytes/json-node.ts'
import { type KnownItems, type ReadLimits, readJson } from '../../json/bytes/read-json.ts'
import { OPEN_BRACE } from '../../json/char-codes.ts'
import { unitInBody } from './unit-name.ts'

/** The selection that is read of each message. */
function itemsOfList({ request, list }: Route): Selection {
  const items = request.keys.find(({ name }) => name === list)?.value.items
  if (items == null) throw new Error(`${list} has no items`)
  return items
}

/** Longer ones than any provider's are not read. */
const MAX_ID_BYTES = 256

function idOf(node: JsonNode | undefined, reader: ConversationReader): string | undefined {
  return node === undefined || node.end - node.start > MAX_ID_BYTES ? undefined : reader.text(node)
}

/** What stands before the conversation in requests of an endpoint; `undefined`: it is not read. */
export function headRulesOf(route: RouteName): HeadRules | undefined {
  return bodyRules(route).head
}

/** Bytes `[start, end)`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The results of scanning a request body. They refer to the body, which must not change. */
export interface ScannedRequest {
  readonly body: JsonBytes
  readonly route: RouteName
  /** All that was read of the body. */
  readonly request: JsonNode
  readonly model: string | undefined
  readonly stream: boolean | undefined
  /** The response that it continues, if the provider keeps the conversation. */
  readonly continues: string | undefined
  /** Names what the body says that it belongs to; see `unitInBody`. */
  readonly unit: string | undefined
  /** Names of the tools that the request defines itself. */
  readonly tools: readonly string[]
  /** Those of them that it lets the model call; deferred ones too. */
  readonly callable: readonly string[]
  /** Whether the request lets the model call a tool that the proxy adds. */
  readonly mayCallAdded: boolean
  /** The messages of the conversation, or the items of the input. */
  readonly messages: readonly ByteRange[]
  /** Texts of tool results, in the order of the conversation. */
  readonly results: readonly ToolResultText[]
  /** Results that programs get instead of the model. They are not among `results`. */
  readonly forPrograms: readonly ProgramResult[]
  /**
   * Whether the provider may leave out earlier results by itself, so that nothing may depend on
   * them.
   */
  readonly forgets: boolean
  /**
   * Messages before the second turn: up to the first of a user, that one included; all if there is
   * none.
   */
  readonly opening: number
  /** How often the model has spoken; messages of it that stand together count once. */
  readonly modelTurns: number
  /** The nodes that were read of each message, for the scan of a later turn. */
  readonly read: readonly JsonNode[]
  /**
   * Members that set how far the provider shall cache, from the key to the value, in the order of
   * the body.
   */
  readonly breakpoints: readonly ByteRange[]
  /** For the scan of a later turn; `null` if this one is not to be continued. */
  readonly checkpoint: Checkpoint | null
}

/** An earlier turn of the same endpoint. */
export interface EarlierTurn extends Pick<KnownItems, 'items' | 'bytes'> {
  readonly checkpoint: Checkpoint | null
}

/**
 * Messages at the end of a turn that are read again in the next one, which may have them
 * differently: breakpoints move, and blocks are added.
 */
const CHANGING_MESSAGES = 8

/**
 * Finds the tool results in a request body, in one pass. Each result has the place at which
 * `JSON.parse` and a walk would find it. Ambiguous content (doubled keys, unknown types) is not
 * found. Returns `null` if the body is not JSON in UTF-8, does not have the shape of a request to
 * `route`, has a decisive key twice at the top level, or is beyond a limit. The caller then
 * forwards it unchanged. Never throws.
 * @param earlier what was read of an earlier turn, and the length of the prefix that both bodies
 *   have in common. Messages within it are not read again; the result has the same nodes
 */
export function scanRequest(
  bytes: Uint8Array,
  route: RouteName,
  limits: ReadLimits,
  earlier?: EarlierTurn,
): ScannedRequest | null {
  const rules = bodyRules(route)
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const known = earlier && { ...earlier, selection: itemsOfList(rules) }
  const request = readJson(body, rules.request, limits, known)
  if (request === null || request.doubled || body[request.start] !== OPEN_BRACE) return null
  const messages = memberOf(request, rules.list)?.items ?? null
  if (messages === null && !rules.listOptional) return null

  const { reader, checkpoint } = readMessages(body, request, { rules, messages, earlier })
  // At the top it represents the last block that can be cached.
  if (reader.isSet(memberOf(request, 'cache_control'))) reader.endCachedPrefix()
  const tools = rules.toolNames(request, reader)
  const mayCall = rules.mayCall(request, reader)
  return {
    body,
    route,
    request,
    model: reader.text(memberOf(request, 'model')),
    stream: reader.flag(memberOf(request, 'stream')),
    continues: idOf(memberOf(request, 'previous_response_id'), reader),
    unit: unitInBody(request, reader),
    tools,
    callable: tools.filter(mayCall),
    mayCallAdded: mayCall(RETRIEVE_TOOL),
    messages: (messages ?? []).map(({ start, end }) => ({ start, end })),
    results: reader.texts(),
    checkpoint,
    forPrograms: reader.forPrograms,
    forgets: reader.isEdited || requestForgets(body, request),
    read: messages ?? [],
    opening: reader.opening ?? messages?.length ?? 0,
    modelTurns: reader.modelTurns,
    breakpoints: reader.breakpoints
      .map(({ keyStart, end }) => ({ start: keyStart, end }))
      .sort((a, b) => a.start - b.start),
  }
}

interface Reading {
  readonly rules: Route
  readonly messages: readonly JsonNode[] | null
  readonly earlier: EarlierTurn | undefined
}

/** Reads the messages from the checkpoint of an earlier turn on, if that one has the same. */
function readMessages(
  body: JsonBytes,
  request: JsonNode,
  { rules, messages, earlier }: Reading,
): { readonly reader: ConversationReader; readonly checkpoint: Checkpoint | null } {
  const list = messages ?? []
  const allowsPrograms = rules.allowsPrograms?.(request, new ConversationReader(body)) ?? false
  const from = startingPoint(list, earlier, allowsPrograms)
  const reader = new ConversationReader(body, { allowsPrograms, ...(from && { from }) })
  const end = earlier === undefined ? 0 : Math.max(0, list.length - CHANGING_MESSAGES)
  let checkpoint = from !== null && from.messages >= end ? from : null
  for (let index = from?.messages ?? 0; index < list.length; index++) {
    if (index === end && earlier !== undefined) checkpoint ??= reader.checkpoint(index)
    const node = list[index]!
    reader.passWall(node)
    reader.passSpeaker(rules.isOfModel(node, reader))
    rules.readMessage(node, index, reader)
  }
  return { reader, checkpoint }
}

/** Known messages come first and in their order, so the last one shows that all are known. */
function startingPoint(
  list: readonly JsonNode[],
  earlier: EarlierTurn | undefined,
  allowsPrograms: boolean,
): Checkpoint | null {
  const checkpoint = earlier?.checkpoint ?? null
  if (checkpoint === null || checkpoint.allowsPrograms !== allowsPrograms) return null
  const last = checkpoint.messages - 1
  return last >= 0 && list[last] === earlier!.items[last] ? checkpoint : null
}
