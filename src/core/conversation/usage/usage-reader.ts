import { bodyRules, type RouteName } from '../../dialects/lookup.ts'
import { EventDataReader } from './event-data.ts'
import { FrameReader, unwrapped } from './event-frames.ts'
import { FigureReader } from './figure-reader.ts'
import type { TokenUsage } from './token-usage.ts'
import { type Figures, usageOf } from './usage-figures.ts'

/** How an answer comes: as one JSON text, as server-sent events, or as frames of Amazon's. */
export type AnswerForm = 'json' | 'events' | 'frames'

/** The usage and the model that an answer reports. */
export interface AnswerUsage {
  readonly usage: TokenUsage
  /** The model that answered, as the provider names it. */
  readonly model: string | undefined
}

export interface UsageReader {
  /** The next piece of the answer, however it is cut. Never throws. */
  read(bytes: Uint8Array): void
  /** The usage reported so far; `null` if there were no figures. A stream may report more later. */
  readonly found: AnswerUsage | null
}

/**
 * Reads the usage that an answer of a route reports, while the answer passes. Linear in its length;
 * keeps a few figures of it. An answer's figures and those of its events have the same places, and
 * later figures replace earlier ones.
 */
export function createUsageReader(route: RouteName, form: AnswerForm): UsageReader {
  const figures: Figures = {}
  const reader = new FigureReader(bodyRules(route).usage.places, (name, text) => {
    figures[name] = text
  })
  const pieces = form === 'json' ? reader : readerOfEvents(route, form, reader)
  return {
    read: bytes => pieces.read(bytes),
    get found() {
      const usage = usageOf(route, figures)
      return usage === null ? null : { usage, model: figures['model'] }
    },
  }
}

function readerOfEvents(
  route: RouteName,
  form: 'events' | 'frames',
  figures: FigureReader,
): Pick<UsageReader, 'read'> {
  const to = { data: (bytes: Uint8Array) => figures.read(bytes), end: () => figures.reset() }
  if (form === 'events') return new EventDataReader(to)
  return new FrameReader(bodyRules(route).usage.hasOwnFrames ? to : unwrapped(to))
}
