/** A call whose result has not come yet. */
export interface PendingCall {
  readonly tool: string
  readonly args: unknown
}

/** Calls by their ids, until their results come. */
export interface PendingCalls {
  add(id: string, call: PendingCall): void
  /** The call, which is forgotten with that. */
  take(id: string): PendingCall | undefined
}

/** Calls that may wait at once; agents have a few. Beyond it the oldest is forgotten. */
const MAX_CALLS = 256

export function createPendingCalls(): PendingCalls {
  const calls = new Map<string, PendingCall>()
  return {
    add(id, call) {
      calls.delete(id)
      calls.set(id, call)
      if (calls.size > MAX_CALLS) calls.delete(calls.keys().next().value!)
    },
    take(id) {
      const call = calls.get(id)
      calls.delete(id)
      return call
    },
  }
}
