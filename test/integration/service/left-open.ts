import { createHook } from 'node:async_hooks'
import { readdirSync, readlinkSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'

/** Watches what a piece of work leaves open in this process. */
export interface LeftOpen {
  /** What has begun until now is watched, and nothing that begins later. */
  stop(): void
  /** What began during the watch and has not ended yet. */
  list(): string[]
  /** Ends the watch. */
  [Symbol.dispose](): void
}

/**
 * Node lists neither threads nor timers that let the process end, so both are noted as they begin.
 * Sockets, servers and file descriptors are compared with those before.
 */
export function watchLeftOpen(): LeftOpen {
  const threads: Worker[] = []
  const timers = new Map<number, string>()
  const before = [...handles(), ...descriptors()]
  let isStopped = false
  const hook = createHook({
    init(id, type) {
      if (type === 'Timeout' && !isStopped) timers.set(id, `timer of ${caller()}`)
    },
    destroy: id => timers.delete(id),
  }).enable()
  const noteThread = (thread: Worker) => threads.push(thread)
  process.on('worker', noteThread)

  return {
    stop() {
      isStopped = true
      process.off('worker', noteThread)
    },
    list: () => [
      ...threads.filter(({ threadId }) => threadId !== -1).map(() => 'thread'),
      ...timers.values(),
      ...without([...handles(), ...descriptors()], before),
    ],
    [Symbol.dispose]() {
      this.stop()
      hook.disable()
    },
  }
}

/** Timers are noted one by one, and the others here are over with what they were made for. */
function handles(): string[] {
  return process.getActiveResourcesInfo().filter(type => !/^(Timeout|Immediate|FSReq)/.test(type))
}

function descriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      return [`descriptor ${fd} of ${readlinkSync(`/proc/self/fd/${fd}`)}`]
    } catch {
      // The one that the folder was read with.
      return []
    }
  })
}

function caller(): string {
  return new Error().stack?.match(/(?:src|node_modules)\/\S+/)?.[0] ?? 'Node'
}

/** What of `all` is there more often than in `known`. */
function without(all: readonly string[], known: readonly string[]): string[] {
  const rest = [...known]
  return all.filter(each => {
    const index = rest.indexOf(each)
    if (index !== -1) rest.splice(index, 1)
    return index === -1
  })
}
