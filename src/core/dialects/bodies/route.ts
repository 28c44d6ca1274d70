import {
  type JsonNode,
  memberOf,
  members,
  RANGE,
  type Selection,
} from '../../json/bytes/json-node.ts'
import { mayHoldSettings } from '../forgetting/lets-forget.ts'
import type { ConversationReader } from './conversation-reader.ts'
import type { MayCall } from './tool-choice.ts'

/**
 * What stands before the conversation, and what may be changed there. Its members are read of the
 * request.
 */
export interface HeadRules {
  /** The member with the instructions, if they are no messages. */
  readonly system: string | undefined
  /** Where a list of parts has a text: the type of the part. */
  readonly textType: 'text' | 'input_text'
  /** The member with the effort of reasoning. */
  readonly effort: readonly string[]
  /** Where a tool has its name. */
  readonly toolNames: readonly (readonly string[])[]
  /** Whether a tool may end a cached prefix. */
  readonly hasToolBreakpoints: boolean
}

/** How the requests of one endpoint are built. */
export interface Route {
  /** The selection that is read of a body. It is one of `requestOf`, with `list` and `tools`. */
  readonly request: Selection
  /** The member with the conversation. */
  readonly list: string
  /**
   * Whether a request may lack a list, because its conversation is a text or is kept by the
   * provider.
   */
  readonly listOptional: boolean
  /** What stands before the conversation; absent: it is not read. */
  readonly head?: HeadRules
  /** Names of the tools that the request defines. */
  toolNames(request: JsonNode, reader: ConversationReader): readonly string[]
  /** Which of them the request lets the model call now. */
  mayCall(request: JsonNode, reader: ConversationReader): MayCall
  /**
   * Whether programs of the model may have made calls that the body does not have; absent: never.
   */
  allowsPrograms?(request: JsonNode, reader: Pick<ConversationReader, 'text'>): boolean
  /** Whether the model wrote a message. */
  isOfModel(node: JsonNode, reader: Pick<ConversationReader, 'text'>): boolean
  /** Adds the calls and results of one message. */
  readMessage(node: JsonNode, message: number, reader: ConversationReader): void
}

/** A call whose arguments are an object. */
export interface ObjectCall {
  /** By which a result names it. */
  readonly key: string | undefined
  readonly message: number
  /** The member with the arguments. */
  readonly args: string
  /** Whether something around it has doubled keys. */
  readonly isUnclear: boolean
}

/** Adds the call of a node that has its name and its arguments. */
export function addObjectCall(
  node: JsonNode,
  { key, message, args, isUnclear }: ObjectCall,
  reader: ConversationReader,
): void {
  const ordinal = reader.passCall()
  if (isUnclear || node.doubled) {
    reader.forgetCall(key)
    return
  }
  reader.addCall(key, message, {
    tool: reader.text(memberOf(node, 'name')),
    argsAt: memberOf(node, args),
    areText: false,
    ordinal,
    byProgram: false,
  })
}

/**
 * A request with these members, and with all others that may hold settings: some of them let a
 * provider forget.
 */
export function requestOf(named: Readonly<Record<string, Selection>>): Selection {
  return members({ ...COMMON_KEYS, ...named }, mayHoldSettings)
}

/** Members that are read of every request. */
const COMMON_KEYS = {
  model: RANGE,
  stream: RANGE,
  metadata: members({ user_id: RANGE }),
  prompt_cache_key: RANGE,
} as const satisfies Readonly<Record<string, Selection>>

/**
 * The names that a list of tools states, at `path` below each; a tool with doubled keys has none.
 */
export function namesIn(
  tools: readonly JsonNode[],
  path: readonly string[],
  reader: ConversationReader,
): string[] {
  return tools.flatMap(tool => {
    let node: JsonNode | undefined = tool
    for (const key of path) node = node?.doubled ? undefined : memberOf(node, key)
    const name = reader.text(node)
    return name === undefined ? [] : [name]
  })
}
