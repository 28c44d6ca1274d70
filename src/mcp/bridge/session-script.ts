import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import {
  jsonBytes,
  type NotificationMessage,
  type RequestMessage,
  writeNotification,
  writeRequest,
} from '../json-rpc.ts'
import { textMember } from '../members.ts'

/** Id of requests that the client does not see. */
const OWN_ID = jsonBytes('haversack-bridge')
const INITIALIZED = 'notifications/initialized'

/** What a client has told its session, so that another session can be told the same. */
export class SessionScript {
  #initialize: JsonBytes | null = null
  #isInitialized = false
  #level: JsonBytes | null = null
  /** Parameters of subscriptions to resources, by URI. */
  readonly #watched = new Map<string, JsonBytes | null>()

  /** Whether the client is ready for what belongs to no request. */
  get isInitialized(): boolean {
    return this.#isInitialized
  }

  note({ method, params }: RequestMessage | NotificationMessage): void {
    if (method === 'initialize') this.#initialize = copyOf(params)
    if (method === INITIALIZED) this.#isInitialized = true
    if (method === 'logging/setLevel') this.#level = copyOf(params)
    const uri = params === null ? null : textMember(params, 'uri')
    if (uri === null) return
    if (method === 'resources/subscribe') this.#watched.set(uri, copyOf(params))
    if (method === 'resources/unsubscribe') this.#watched.delete(uri)
  }

  /** The client's own handshake. */
  handshake(): JsonBytes {
    return writeRequest(OWN_ID, 'initialize', this.#initialize)
  }

  /** What comes after the handshake, in its order. */
  rest(): JsonBytes[] {
    const level =
      this.#level === null ? [] : [writeRequest(OWN_ID, 'logging/setLevel', this.#level)]
    const watched = [...this.#watched.values()].map(params =>
      writeRequest(OWN_ID, 'resources/subscribe', params),
    )
    return [writeNotification(INITIALIZED, null), ...level, ...watched]
  }
}

/** A message is a part of a larger chunk, which would be kept with it. */
function copyOf(params: JsonBytes | null): JsonBytes | null {
  return params === null ? null : Buffer.from(params)
}
