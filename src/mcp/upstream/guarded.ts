import type { ConnectionListener, UpstreamCall } from './connection.ts'

export type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void

/** The listener, whose throws end nothing but themselves. */
export function guardedListener(listener: ConnectionListener, log: Log): ConnectionListener {
  return {
    onNotification: guarded(log, listener.onNotification.bind(listener)),
    onRequest: async (...args) => await listener.onRequest(...args),
    onConnected: guarded(log, listener.onConnected.bind(listener)),
    onLost: guarded(log, listener.onLost.bind(listener)),
  }
}

/** The call, whose `notify` ends nothing but itself if it throws. */
export function guardedCall(call: UpstreamCall, log: Log): UpstreamCall {
  return {
    method: call.method,
    params: call.params,
    signal: call.signal,
    timeoutMs: call.timeoutMs,
    canRepeat: call.canRepeat,
    notify: guarded(log, call.notify.bind(call)),
    ask: async (...args) => await call.ask(...args),
    ...(call.mirrored === undefined ? {} : { mirrored: call.mirrored }),
  }
}

function guarded<Args extends unknown[]>(
  log: Log,
  handler: (...args: Args) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      handler(...args)
    } catch (error) {
      log('mcp listener failed', { error })
    }
  }
}
