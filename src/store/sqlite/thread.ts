import { createSteadyClock } from '../../core/base/steady-clock.ts'
import { ownThread } from '../../threads/own-thread.ts'
import type { StoreEvent } from '../values/store-event.ts'
import { Commits } from './commits.ts'
import { Loop } from './loop.ts'
import type { FromThread, ToThread } from './protocol.ts'
import { type SqliteStoreOptions, settle } from './settings.ts'

/** Given to the thread at its start (`data`). */
export type ThreadData = SqliteStoreOptions

/** The store's thread: SQLite calls block, so they have one of their own. `client.ts` starts it. */
const { port, data } = ownThread<ThreadData>()

const post = (message: FromThread, transfer: readonly ArrayBuffer[] = []) =>
  port.postMessage(message, [...transfer])

const onEvent = (event: StoreEvent) => post({ kind: 'event', event })
const stopwatch = () => performance.now()

try {
  const clock = createSteadyClock({
    wall: Date.now,
    stopwatch,
    onJump: ahead_ms => onEvent({ kind: 'clock_jumped', ahead_ms }),
  })
  const settings = settle(data)
  const commits = new Commits({ settings, clock, stopwatch, onEvent })
  const loop = new Loop({ commits, post, onClosed: () => port.close() })
  port.on('message', (message: ToThread) => loop.receive(message))
  post({ kind: 'ready' })
} catch (error) {
  post({ kind: 'unusable', detail: error instanceof Error ? error.message : String(error) })
  port.close()
}
