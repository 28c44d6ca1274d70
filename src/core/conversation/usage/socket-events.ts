import type { FigurePlaces } from '../../dialects/bodies/route.ts'
import { bodyRules, ROUTE_NAMES, type RouteName } from '../../dialects/lookup.ts'
import { FigureReader } from './figure-reader.ts'
import { type AnswerUsage, type Figures, usageOf } from './usage-reader.ts'

/** The endpoint whose conversations come over WebSockets. */
export const SOCKET_ROUTE = ROUTE_NAMES.find(route => bodyRules(route).hasSocket) as RouteName

const FIGURES = bodyRules(SOCKET_ROUTE).usage.places
const PLACES: FigurePlaces = {
  ...FIGURES,
  type: 'type',
  response: { ...Object(FIGURES['response']), id: 'id' },
}

/** Events that are the last ones of a response. */
const ENDS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
])

/** The last event of a response. */
export interface ResponseEnd {
  /** Whether the response was made; an `error` reports that none is. */
  readonly isGiven: boolean
  /** `null` if the event reports none. */
  readonly said: AnswerUsage | null
  /** By which the next request continues it. */
  readonly id: string | undefined
}

/**
 * Reads the events of the Responses API that come as messages of a WebSocket, in pieces. It keeps
 * a few figures of the event that is being read.
 */
export class ResponseEvents {
  #figures: Figures = {}
  readonly #reader = new FigureReader(PLACES, (name, text) => {
    this.#figures[name] = text
  })

  /**
   * The next piece of an event. Returns the end of a response, if the event is complete and the
   * last of one. Never throws.
   */
  read(bytes: Uint8Array, isLast: boolean): ResponseEnd | null {
    this.#reader.read(bytes)
    if (!isLast) return null
    const { type = '', model, id } = this.#figures
    const usage = usageOf(SOCKET_ROUTE, this.#figures)
    this.#figures = {}
    this.#reader.reset()
    const isGiven = ENDS.has(type)
    if (!isGiven && type !== 'error') return null
    return { isGiven, said: usage === null ? null : { usage, model }, id }
  }
}

/** How much of a message is read before it is known whether that is enough. */
const STEP_BYTES = 256

/** Reads the `type` of one message that comes in pieces, no further than that. */
export class MessageType {
  #found: string | null = null
  readonly #reader = new FigureReader({ type: 'type' }, (_, text) => {
    this.#found ??= text
  })

  /** Returns the type; `null` if it did not come yet. Never throws. */
  read(bytes: Uint8Array): string | null {
    for (let at = 0; at < bytes.length && this.#found === null; at += STEP_BYTES) {
      this.#reader.read(bytes.subarray(at, at + STEP_BYTES))
    }
    return this.#found
  }
}
