import { items, itemsOf, type JsonBytes, RANGE } from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { mirroredParams, mirrorsOf } from '../catalogue/mirrored-params.ts'
import { MODERN_ERRORS } from '../fronts/modern/request-rules.ts'
import {
  jsonBytes,
  type Message,
  type RequestMessage,
  type ResponseMessage,
  writeNotification,
  writeRequest,
  writeResponse,
} from '../json-rpc.ts'
import { EMPTY_OBJECT, member, objectMember, textMember, withMember } from '../members.ts'
import { Backoff } from '../upstream/backoff.ts'
import { pause } from '../upstream/clock.ts'
import { META, metaMember } from '../upstream/envelope.ts'
import type { HttpEnd } from '../upstream/http-exchange.ts'
import {
  acceptHeader,
  headerValue,
  mirrorHeaders,
  versionHeader,
} from '../upstream/http-headers.ts'
import { type BridgeFailure, CUT, lostBy, refusedBy } from './bridge-failures.ts'
import { readAnswer } from './read-answer.ts'
import type { OpenRequest, RelayOptions } from './relay.ts'

/** Pages of a list that are read. */
const MOST_PAGES = 100
/** Tools of a page. */
const MOST_TOOLS = 10_000

/** Whether a request was refused since its headers do not repeat what its body says. */
function isHeaderMismatch(message: Message): boolean {
  if (message.kind !== 'response' || message.outcome.kind !== 'error') return false
  return member(message.outcome.error, 'code')?.toString() === String(MODERN_ERRORS.headerMismatch)
}

/**
 * Definitions of the tools with arguments that headers repeat, by name.
 * @param readPage gets the result of a page by its parameters; resolves to `null` if there is none
 * @param meta `_meta` of the requests
 */
async function listMirroredTools(
  readPage: (params: JsonBytes) => Promise<JsonBytes | null>,
  meta: JsonBytes,
): Promise<ReadonlyMap<string, JsonBytes>> {
  const tools = new Map<string, JsonBytes>()
  const first = withMember(EMPTY_OBJECT, '_meta', meta) ?? EMPTY_OBJECT
  let params: JsonBytes | null = first
  for (let page = 0; page < MOST_PAGES && params !== null; page++) {
    const result: JsonBytes | null = await readPage(params)
    if (result === null) break
    for (const definition of definitionsOf(result)) {
      const name = textMember(definition, 'name')
      const isMirrored = (mirroredParams(definition) ?? []).length > 0
      if (name !== null && isMirrored) tools.set(name, Buffer.from(definition))
    }
    const cursor = member(result, 'nextCursor') ?? null
    params = cursor === null ? null : withMember(first, 'cursor', cursor)
  }
  return tools
}

function definitionsOf(result: JsonBytes): JsonBytes[] {
  const list = member(result, 'tools')
  if (list == null) return []
  const limits = { maxBytes: list.length, maxDepth: 10_000, maxValues: 2 * MOST_TOOLS }
  const root = readJson(list, items(RANGE), limits)
  return itemsOf(root ?? undefined).map(({ start, end }) => list.subarray(start, end))
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** What a subscription to a list is called, and what is sent when that list has changed. */
const CHANGES: readonly (readonly [string, string])[] = [
  ['toolsListChanged', 'notifications/tools/list_changed'],
  ['promptsListChanged', 'notifications/prompts/list_changed'],
  ['resourcesListChanged', 'notifications/resources/list_changed'],
]

/** What came of one POST; `held` is a refusal that is not sent to the client yet. */
interface Attempt {
  readonly failure: BridgeFailure
  readonly held: { readonly answer: ResponseMessage; readonly bytes: JsonBytes } | null
}

/** Requests of the revision 2026-07-28: a POST for each. A client cancels by closing its stream. */
export class ModernRelay {
  readonly #options: RelayOptions
  /** Definitions of tools whose arguments headers repeat, by name, as they were last listed. */
  #tools: ReadonlyMap<string, JsonBytes> = new Map()

  constructor(options: RelayOptions) {
    this.#options = options
  }

  async request(open: OpenRequest): Promise<BridgeFailure | null> {
    if (open.message.method === 'subscriptions/listen') return this.#listen(open)
    let attempt = await this.#attempt(open)
    const isCall = open.message.method === 'tools/call'
    if (isCall && attempt.held !== null && isHeaderMismatch(attempt.held.answer)) {
      await this.#readTools(open)
      if (this.#definitionOf(open.message) !== undefined) attempt = await this.#attempt(open)
    }
    return this.#settle(attempt, open)
  }

  /** Listens again when the stream is cut. The lists may be others then. */
  async #listen(open: OpenRequest): Promise<BridgeFailure | null> {
    const { endpoint, toClient } = this.#options
    const backoff = new Backoff(endpoint.clock)
    let hasBegun = false
    for (;;) {
      let failure: BridgeFailure
      let hasEvents = false
      const isAgain = hasBegun
      const end = await this.#post(open.message, open.line, open.signal)
      if (end.kind === 'head') {
        const body = await readAnswer(end.answer, endpoint.guard, (sent, bytes) => {
          if (isAgain && isAcknowledgement(sent)) this.#listsChanged(sent)
          else toClient(sent, bytes)
        })
        failure = refusedBy(end.answer, body.text)
        hasEvents = body.hasEvents
      } else failure = lostBy(end)
      if (open.isDone() || open.signal.aborted) return null
      if (!hasBegun && !hasEvents) return failure
      hasBegun = true
      if (hasEvents) backoff.connected()
      await pause(endpoint.clock, backoff.next(), open.signal)
    }
  }

  async #attempt({ message, line, signal }: OpenRequest): Promise<Attempt> {
    const { endpoint, toClient } = this.#options
    const end = await this.#post(message, line, signal)
    if (end.kind !== 'head') return { failure: lostBy(end), held: null }
    const { statusCode } = end.answer
    let held: Attempt['held'] = null
    const { text } = await readAnswer(end.answer, endpoint.guard, (sent, bytes) => {
      const isHeld = sent.kind === 'response' && (statusCode === 400 || sent.id === null)
      if (isHeld) held = { answer: sent, bytes }
      else toClient(sent, bytes)
    })
    return { failure: statusCode === 200 ? CUT : refusedBy(end.answer, text), held }
  }

  #settle({ failure, held }: Attempt, open: OpenRequest): BridgeFailure | null {
    if (held !== null) {
      const { answer, bytes } = held
      const { id } = open.message
      // An answer without an id is this request's.
      const isOwn = answer.id !== null
      this.#options.toClient(
        { ...answer, id: answer.id ?? id },
        isOwn ? bytes : writeResponse(id, answer.outcome),
      )
    }
    return open.isDone() ? null : failure
  }

  #post(message: RequestMessage, body: JsonBytes, signal: AbortSignal): Promise<HttpEnd> {
    const { method, params } = message
    const definition = this.#definitionOf(message)
    const mirrored = definition === undefined ? {} : mirrorsOf(definition, params ?? EMPTY_OBJECT)
    const headers = {
      ...acceptHeader('POST', 'modern'),
      ...versionHeader(headerValue(versionOf(params))),
      ...mirrorHeaders({ id: 0, method, params, message: body, mirrored }),
    }
    return this.#options.endpoint.send({ method: 'POST', headers, body, signal })
  }

  #definitionOf({ method, params }: RequestMessage): JsonBytes | undefined {
    const name = method === 'tools/call' && params !== null ? textMember(params, 'name') : null
    return name === null ? undefined : this.#tools.get(name)
  }

  async #readTools({ message: { params }, signal }: OpenRequest): Promise<void> {
    const meta = objectMember(params ?? EMPTY_OBJECT, '_meta') ?? EMPTY_OBJECT
    this.#tools = await listMirroredTools(async page => {
      const list = { kind: 'request', id: OWN_ID, method: 'tools/list', params: page } as const
      const end = await this.#post(list, writeRequest(OWN_ID, list.method, page), signal)
      if (end.kind !== 'head') return null
      let result: JsonBytes | null = null
      await readAnswer(end.answer, this.#options.endpoint.guard, sent => {
        if (sent.kind === 'response' && sent.outcome.kind === 'result') result = sent.outcome.result
      })
      return result
    }, meta)
  }

  /** @param acknowledgement names the lists that are listened for */
  #listsChanged({ params }: Extract<Message, { kind: 'notification' }>): void {
    const honoured = objectMember(params ?? EMPTY_OBJECT, 'notifications') ?? EMPTY_OBJECT
    const id = metaMember(params, META.subscriptionId)
    const about = `{"_meta":{"${META.subscriptionId}":${id?.toString() ?? 'null'}}}`
    for (const [list, method] of CHANGES) {
      if (member(honoured, list)?.toString() !== 'true') continue
      this.#options.write(writeNotification(method, Buffer.from(about)))
    }
  }
}

const OWN_ID = jsonBytes('haversack-bridge')

function versionOf(params: JsonBytes | null): string {
  const meta = objectMember(params ?? EMPTY_OBJECT, '_meta')
  return (meta === null ? null : textMember(meta, META.protocolVersion)) ?? ''
}

function isAcknowledgement(
  message: Message,
): message is Extract<Message, { kind: 'notification' }> {
  return message.kind === 'notification' && message.method === ACKNOWLEDGED
}
