import type { EventEmitter } from 'node:events'

type Handler<Args extends unknown[]> = (...args: Args) => void

/**
 * Binds handlers so that what they throw goes to one place. A throw in an event handler, a timer or
 * a callback would end the process, and with it the streams of all clients; so everything in this
 * folder is bound here. `test/unit/proxy/guard.test.ts` checks that.
 */
export class Guard {
  readonly #onThrow: (error: unknown) => void

  /** @param onThrow must not throw itself */
  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow
  }

  on<Args extends unknown[]>(emitter: EventEmitter, event: string, handler: Handler<Args>): void {
    emitter.on(event, this.wrap(handler))
  }

  once<Args extends unknown[]>(emitter: EventEmitter, event: string, handler: Handler<Args>): void {
    emitter.once(event, this.wrap(handler))
  }

  nextTick(handler: () => void): void {
    process.nextTick(this.wrap(handler))
  }

  /** Calls the handler with what a promise resolves to. */
  settled<Value>(promise: Promise<Value>, handler: (value: Value) => void): void {
    promise.then(this.wrap(handler), this.#onThrow)
  }

  /** Calls the handler again and again, until the timer is cleared. */
  every(ms: number, handler: () => void): NodeJS.Timeout {
    return setInterval(this.wrap(handler), ms)
  }

  /** The handler, for others to call. */
  wrap<Args extends unknown[]>(handler: Handler<Args>): Handler<Args> {
    return (...args) => {
      try {
        handler(...args)
      } catch (error) {
        this.#onThrow(error)
      }
    }
  }
}
