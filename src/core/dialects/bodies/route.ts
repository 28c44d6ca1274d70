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
  /** Roles of messages that have instructions, too. */
  readonly systemRoles: readonly string[]
  /** The member with the effort of reasoning. */
  readonly effort: readonly string[]
  /** Efforts that no model has; absent: every effort is one of some model. */
  readonly unknownEfforts?: readonly string[]
  /** Where a tool has its name. */
  readonly toolNames: readonly (readonly string[])[]
  /** Whether a tool may end a cached prefix. */
  readonly hasToolBreakpoints: boolean
}

/**
 * Which members of a JSON object matter: by key, the name of the figure, or the members of an
 * object in its place.
 */
export interface FigurePlaces {
  readonly [key: string]: string | FigurePlaces
}

/** How the answers of one endpoint report what they used. */
export interface UsageRules {
  /** The places of the figures, in JSON answers and in the data of events alike. */
  readonly places: FigurePlaces
  /** Whether the input has no token that was read from the cache or written to it. */
  readonly inputIsUncached: boolean
  /** Whether events come in frames of their own; others are wrapped in them. */
  readonly hasOwnFrames?: true
}

/** How calls of our own tool are answered between client and provider. */
export interface RetrieveRules {
  /** How its messages are built, which decides what is hidden and put back. */
  readonly turns: 'blocks' | 'choices' | 'items'
  /** The definition of a tool. */
  define(name: string, description: string, schema: object): object
  /** What keeps a stream open. */
  readonly ping: string
}

/** A parsed object. */
export type Fields = Readonly<Record<string, unknown>>

/** A parsed request, as `proxy --check` guesses what it is. */
export interface GuessedRequest {
  readonly body: Fields
  readonly messages: readonly Fields[]
  /** The blocks of all messages. */
  readonly blocks: readonly Fields[]
  readonly tools: readonly Fields[]
}

/** A sign that only the requests of one endpoint have, with its name in messages. */
export type RequestSign = readonly [sign: string, holds: (request: GuessedRequest) => boolean]

/** How the requests and answers of one endpoint are built. */
export interface Route {
  /** As `proxy --route` names it. */
  readonly command: string
  readonly signs: readonly RequestSign[]
  readonly usage: UsageRules
  /** Absent: answers are not read for calls of our own tool. */
  readonly retrieving?: RetrieveRules
  /** Whether messages have blocks: calls, results, and breakpoints of the cache. */
  readonly hasBlocks?: true
  /** Whether the provider may keep the conversation, so that a request has only what is new. */
  readonly mayBeKept?: true
  /** Whether conversations also come over WebSockets. */
  readonly hasSocket?: true
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
