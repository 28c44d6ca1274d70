import type { ConnectionListener, UpstreamConnection } from './connection.ts'

/** What an operator wants to know of a connection. */
export interface ConnectionObserver {
  /** @param isAgain whether it replaces one that was lost */
  onConnected(isAgain: boolean): void
  onDisconnected(): void
  onListChanged(): void
}

const LIST_CHANGED = /^notifications\/\w+\/list_changed$/

/**
 * The connection that `connect` makes, whose states are reported: each `onConnected` has its
 * `onDisconnected`.
 */
export function observeConnection(
  connect: (listener: ConnectionListener) => UpstreamConnection,
  listener: ConnectionListener,
  observer: ConnectionObserver,
): UpstreamConnection {
  let isUp = false
  let hasBeenUp = false
  const down = () => {
    if (isUp) observer.onDisconnected()
    isUp = false
  }
  const connection = connect({
    onNotification(method, params) {
      if (LIST_CHANGED.test(method)) observer.onListChanged()
      listener.onNotification(method, params)
    },
    onRequest: (method, params, signal) => listener.onRequest(method, params, signal),
    onConnected(facts) {
      down()
      observer.onConnected(hasBeenUp)
      isUp = true
      hasBeenUp = true
      listener.onConnected(facts)
    },
    onLost() {
      down()
      listener.onLost()
    },
  })
  return {
    facts: () => connection.facts(),
    call: call => connection.call(call),
    notify: (method, params) => connection.notify(method, params),
    counts: () => connection.counts(),
    lastErrors: () => connection.lastErrors(),
    close() {
      down()
      return connection.close()
    },
  }
}
