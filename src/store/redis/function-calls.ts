import type { Failure, FailureReason, Result } from '../store.ts'
import type { Argument } from './connection.ts'
import { failureOf, OVERLOADED, STRANGE, UNREACHABLE } from './failures.ts'
import { type FunctionName, isAnswerOf, type Library, READS, TIMED, TOGETHER } from './library.ts'
import { MISSING, type Reply } from './send.ts'

export interface FunctionCallsOptions {
  readonly library: Library
  /** Whether tenants are on several nodes, of which each needs the library. */
  readonly isSharded: boolean
  /** Calls and bytes that may wait for the end of a turn of the event loop. */
  readonly maxCalls: number
  readonly maxBytesWaiting: number
  /** Sends a command. Never rejects. */
  send(key: string, args: readonly Argument[], options: SendOptions): Promise<SentCall>
}

export interface SendOptions {
  /** The functions that are called, or the command. */
  readonly names: readonly string[]
  /** Whether the last argument is until when it may have effect. */
  readonly isTimed?: boolean
  /** How much longer than others it may take, in milliseconds. */
  readonly extraMs?: number
}

type SentCall = Result<Reply> | typeof MISSING

interface WaitingCall {
  readonly name: FunctionName
  readonly args: readonly Argument[]
  readonly bytes: number
  answer(result: Result<Reply>): void
}

/** Calls that travel together, and bytes of them. So many take Redis less than a millisecond. */
const MOST_CALLS = 16
const MOST_BYTES = 256 * 1024

/**
 * Calls of the library's functions. Those of one tenant that are made in one turn of the event loop
 * travel together, as one call that Redis runs as a whole: an answer's texts, its references and
 * what it changed in its session need one round trip.
 */
export class FunctionCalls {
  readonly #options: FunctionCallsOptions
  readonly #waiting = new Map<string, WaitingCall[]>()
  #count = 0
  #bytes = 0
  /** By node. */
  readonly #loading = new Map<string, Promise<Result<Reply>>>()

  constructor(options: FunctionCallsOptions) {
    this.#options = options
  }

  async call(name: FunctionName, root: string, args: readonly Argument[]): Promise<Result<Reply>> {
    const answer = TOGETHER.has(name)
      ? await this.#together(name, root, args)
      : await this.#alone(name, root, args)
    return shaped(name, answer)
  }

  #together(name: FunctionName, root: string, args: readonly Argument[]): Promise<Result<Reply>> {
    const { maxCalls, maxBytesWaiting } = this.#options
    const bytes = args.reduce((sum, each) => sum + each.length, 0)
    if (this.#count >= maxCalls || this.#bytes + bytes > maxBytesWaiting)
      return Promise.resolve(OVERLOADED)
    this.#count++
    this.#bytes += bytes
    return new Promise(answer => {
      if (this.#waiting.size === 0) setImmediate(() => this.#sendAll())
      const ofTenant = this.#waiting.get(root) ?? []
      ofTenant.push({ name, args, bytes, answer })
      this.#waiting.set(root, ofTenant)
    })
  }

  #sendAll(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    this.#count = 0
    this.#bytes = 0
    for (const [root, calls] of waiting) {
      for (const group of inGroups(calls)) void this.#sendGroup(root, group)
    }
  }

  async #sendGroup(root: string, calls: readonly WaitingCall[]): Promise<void> {
    const [first] = calls as [WaitingCall]
    if (calls.length === 1) {
      first.answer(await this.#alone(first.name, root, first.args))
      return
    }
    const isReading = calls.every(({ name }) => READS.has(name))
    const args = calls.flatMap(({ name, args }) => [name, `${args.length}`, ...args])
    const names = calls.map(({ name }) => name)
    const answer = await this.#send(isReading ? 'read_together' : 'together', root, args, {
      names,
      isTimed: true,
    })
    const replies = answer.ok ? answer.reply : null
    if (answer.ok && (!Array.isArray(replies) || replies.length !== calls.length)) {
      for (const call of calls) call.answer(STRANGE)
      return
    }
    for (const [i, call] of calls.entries()) {
      if (!answer.ok) call.answer(await this.#failed(root, call, answer, isReading))
      else call.answer(replyOf((replies as unknown[])[i]))
    }
  }

  /** A server without memory still reads. */
  async #failed(
    root: string,
    { name, args }: WaitingCall,
    failure: Failure,
    wasReading: boolean,
  ): Promise<Result<Reply>> {
    const isRead = READS.has(name) && !wasReading && failure.reason === FULL
    return isRead ? this.#alone(name, root, args) : failure
  }

  #alone(name: FunctionName, root: string, args: readonly Argument[]): Promise<Result<Reply>> {
    return this.#send(name, root, args, { names: [name], isTimed: TIMED.has(name) })
  }

  /** Calls a function; loads the library first if the server does not have it. */
  async #send(
    name: FunctionName | 'together' | 'read_together',
    root: string,
    args: readonly Argument[],
    options: SendOptions,
  ): Promise<Result<Reply>> {
    const { library, send } = this.#options
    const isReading = name === 'read_together' || READS.has(name as FunctionName)
    const command = [isReading ? 'FCALL_RO' : 'FCALL', library.functionOf(name), '1', root, ...args]
    const answer = await send(root, command, options)
    if (answer !== MISSING) return answer
    const loaded = await this.#load(root)
    if (!loaded.ok) return loaded
    const again = await send(root, command, options)
    return again === MISSING ? UNREACHABLE : again
  }

  /** Loads the library, once for all calls that lack it at the same time. */
  #load(root: string): Promise<Result<Reply>> {
    const { isSharded, library, send } = this.#options
    const node = isSharded ? root : ''
    const known = this.#loading.get(node)
    if (known !== undefined) return known
    const command = ['FUNCTION', 'LOAD', 'REPLACE', library.text]
    const loading = send(root, command, { names: ['function'] })
      .then(answer => (answer === MISSING ? UNREACHABLE : answer))
      .finally(() => this.#loading.delete(node))
    this.#loading.set(node, loading)
    return loading
  }
}

const FULL: FailureReason = 'full'

/** As many calls at once as do not keep the server long. */
function* inGroups(calls: readonly WaitingCall[]): Generator<readonly WaitingCall[]> {
  let group: WaitingCall[] = []
  let bytes = 0
  for (const call of calls) {
    if (group.length === MOST_CALLS || (group.length > 0 && bytes + call.bytes > MOST_BYTES)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(call)
    bytes += call.bytes
  }
  if (group.length > 0) yield group
}

/** The answer of one of several calls; an error if that one failed. */
function replyOf(reply: unknown): Result<Reply> {
  return reply instanceof Error ? failureOf(reply) : { ok: true, reply }
}

/** A function's answer is of its kind, whatever the server is. */
function shaped(name: FunctionName, answer: Result<Reply>): Result<Reply> {
  return answer.ok && !isAnswerOf(name, answer.reply) ? STRANGE : answer
}
