import { EventDataReader } from './event-data.ts'
import { FigureReader } from './figure-reader.ts'
import type { TokenUsage } from './token-usage.ts'
import { ANSWER_PLACES, type Figures, type UsageRoute, usageOf } from './usage-figures.ts'

/** How an answer comes: as one JSON text, or as server-sent events. */
export type AnswerForm = 'json' | 'events'

/** What an answer reports of itself. */
export interface AnswerUsage {
  readonly usage: TokenUsage
  /** The model that answered, as the provider names it. */
  readonly model: string | undefined
}

export interface UsageReader {
  /** The next piece of the answer, however it is cut. Never throws. */
  read(bytes: Uint8Array): void
  /** What was reported so far; `null` if there were no figures. A stream may report more later. */
  readonly found: AnswerUsage | null
}

/**
 * Reads the usage that an answer of a route reports, while the answer passes. Linear in its length;
 * keeps a few figures of it. An answer's figures and those of its events have the same places, and
 * later figures replace earlier ones.
 */
export function createUsageReader(route: UsageRoute, form: AnswerForm): UsageReader {
  const figures: Figures = {}
  const reader = new FigureReader(ANSWER_PLACES[route], (name, text) => {
    figures[name] = text
  })
  const events = new EventDataReader({
    data: bytes => reader.read(bytes),
    end: () => reader.reset(),
  })
  return {
    read: bytes => (form === 'json' ? reader : events).read(bytes),
    get found() {
      const usage = usageOf(route, figures)
      return usage === null ? null : { usage, model: figures['model'] }
    },
  }
}
