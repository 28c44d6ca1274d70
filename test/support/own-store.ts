import { createSteadyClock } from '../../src/core/base/steady-clock.ts'
import { type OpenStoreOptions, openSqliteStore } from '../../src/store/sqlite/client.ts'
import { Commits, type CommitsOptions } from '../../src/store/sqlite/commits.ts'
import type { Connect } from '../../src/store/sqlite/connection.ts'
import { Loop } from '../../src/store/sqlite/loop.ts'
import { type SqliteStoreOptions, settle } from '../../src/store/sqlite/settings.ts'
import type { Store } from '../../src/store/store.ts'

interface OwnStoreOptions {
  readonly clock: () => number
  readonly open?: CommitsOptions['open']
  /** How often what has expired is swept; if it is not given, as often as in the product. */
  readonly upkeepMs?: number
}

/** The whole store but the thread: the same loop over the same commits, in this one. */
export function ownStore(settings: SqliteStoreOptions, options: OwnStoreOptions) {
  const { clock, open, upkeepMs } = options
  let end = (_detail: string): void => {}
  const connect: Connect = ({ onMessage, onEnd }) => {
    let over = false
    end = detail => {
      if (over) return
      over = true
      setImmediate(() => onEnd(detail))
    }
    try {
      const commits = new Commits({
        settings: settle(settings),
        clock,
        stopwatch: () => performance.now(),
        onEvent: event => onMessage({ kind: 'event', event }),
        ...(open === undefined ? {} : { open }),
      })
      const loop = new Loop({
        commits,
        post: message => {
          if (!over) setImmediate(onMessage, message)
        },
        onClosed: () => setImmediate(end, 'closed'),
        ...(upkeepMs === undefined ? {} : { upkeepMs }),
      })
      setImmediate(onMessage, { kind: 'ready' })
      return { post: message => loop.receive(message), terminate: async () => end('terminated') }
    } catch (error) {
      setImmediate(() => {
        onMessage({ kind: 'unusable', detail: String(error) })
        end('unusable')
      })
      return { post: () => {}, terminate: async () => {} }
    }
  }
  return { connect, end: () => end('ended by the test') }
}

/**
 * Opens a service's store without a thread of its own, for tests that are not about that. What goes
 * in and out is copied and moved as between threads.
 */
export function openOwnStore({ onEvent, ...options }: OpenStoreOptions): Promise<Store> {
  const stopwatch = () => performance.now()
  const clock = createSteadyClock({ wall: Date.now, stopwatch })
  const own = ownStore(options, { clock })
  const connect: Connect = ({ onMessage, onEnd }) => {
    const connection = own.connect({ onMessage: each => onMessage(structuredClone(each)), onEnd })
    return {
      ...connection,
      post: (message, transfer) =>
        connection.post(structuredClone(message, { transfer: [...transfer] }), []),
    }
  }
  return openSqliteStore({ ...options, onEvent, connect })
}
