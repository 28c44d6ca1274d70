import type { Ledger } from '../../book/rows/ledger.ts'
import { AppError } from '../../core/base/errors.ts'

/** Server-sent events for pages: a message when results of tenants that they show were written. */
export interface LiveEvents {
  /**
   * A body that ends when the reader leaves, or when the service drains.
   * @param reader its tenant, which has the stream
   * @param tenants whose results the page shows
   * @param isOver whether the reader may not look any more; asked several times a second
   * @throws AppError `overloaded` if the tenant has too many
   */
  open(
    reader: string,
    tenants: readonly string[],
    isOver: () => boolean,
  ): ReadableStream<Uint8Array>
}

/** Between two messages to a page, in milliseconds. */
const LEAST_MS = 1_000
/** How often a comment keeps proxies from closing a quiet connection. */
const KEEP_ALIVE_MS = 15_000
/** Streams of one tenant. */
const MOST_STREAMS = 100
/** How often the end of the service, or of the reader's session, is looked for. */
const LOOK_MS = 250

/** @param isDraining whether streams are to end */
export function createLiveEvents(
  ledger: Pick<Ledger, 'onWritten'>,
  isDraining: () => boolean,
): LiveEvents {
  const streams = new Map<string, number>()

  /** Counts a stream of the tenant. @returns how to end that */
  function enter(tenant: string): () => void {
    const open = streams.get(tenant) ?? 0
    if (open >= MOST_STREAMS) throw new AppError('overloaded', 'too many pages are open')
    streams.set(tenant, open + 1)
    return () => {
      const left = (streams.get(tenant) ?? 0) - 1
      if (left > 0) streams.set(tenant, left)
      else streams.delete(tenant)
    }
  }

  return {
    open(reader, tenants, isOver) {
      const leave = enter(reader)
      let stop = () => {}
      return new ReadableStream<Uint8Array>({
        start(controller) {
          let timer: NodeJS.Timeout | undefined
          const say = (text: string) => {
            // A page that does not read gets nothing more until it does.
            if ((controller.desiredSize ?? 0) > 0) controller.enqueue(Buffer.from(text))
          }
          const written = () => {
            timer ??= setTimeout(() => {
              timer = undefined
              say('event: written\ndata:\n\n')
            }, LEAST_MS).unref()
          }
          const offs = tenants.map(each => ledger.onWritten(each, written))
          const beat = setInterval(() => say(':\n\n'), KEEP_ALIVE_MS).unref()
          const look = setInterval(() => {
            if (!isDraining() && !isOver()) return
            stop()
            controller.close()
          }, LOOK_MS).unref()
          stop = () => {
            clearTimeout(timer)
            clearInterval(beat)
            clearInterval(look)
            for (const off of offs) off()
            leave()
          }
          say('retry: 5000\n\n')
        },
        cancel: () => stop(),
      })
    },
  }
}
