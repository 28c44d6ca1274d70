import type { Random } from '../../../src/lab/bill/statistics.ts'
import { type ProcessOptions, type ServiceProcess, startProcess } from '../service-process.ts'

export interface Answered {
  readonly status: number
  readonly answer: unknown
}

/** So long may a request take before its replica counts as gone. */
const REQUEST_MS = 20_000
/** The level of a line with which a service ends. */
const FATAL = 60
/** How long a client waits before it asks again. */
const AGAIN_MS = 20
/** Lines of each service that a reader gets. */
const SAID = 8
/** What is shown of the output of a service that ended. */
const LAST_CHARS = 4_000

/** Replicas behind a load balancer of our own that takes any of them that answers. */
export class Replicas {
  readonly #services: ServiceProcess[] = []
  readonly #random: Random
  readonly #optionsOf: (service: number, isNext: boolean) => ProcessOptions
  /** Called if one ends that the run has not ended. */
  readonly #onLost: (what: string) => void
  readonly #ended = new WeakSet<object>()
  /** Whether each service is of the next version. */
  readonly #isNext: boolean[] = []
  /** Requests that were answered with 503, and those that no replica answered. */
  readonly counts = { answered: 0, refused: 0, broken: 0 }

  /** @param optionsOf how a service is started, by its number and version */
  constructor(
    random: Random,
    optionsOf: (service: number, isNext: boolean) => ProcessOptions,
    onLost: (what: string) => void,
  ) {
    this.#random = random
    this.#optionsOf = optionsOf
    this.#onLost = onLost
  }

  get count(): number {
    return this.#services.length
  }

  /** Starts so many, of which the last one is of the next version. */
  async start(count: number): Promise<void> {
    for (let i = 0; i < count; i++) this.#isNext.push(i === count - 1)
    const started = this.#isNext.map((_, i) => this.#started(i))
    this.#services.push(...(await Promise.all(started)))
  }

  /** Replaces each by the other version, one after the other. */
  async rollOver(): Promise<void> {
    for (let at = 0; at < this.#services.length; at++) {
      await this.#end(this.#services[at]!, 'SIGTERM')
      this.#isNext[at] = !this.#isNext[at]
      this.#services[at] = await this.#started(at)
    }
  }

  /** Kills one of them, and starts another one in its place. */
  async killOne(): Promise<void> {
    const at = this.#random(this.#services.length)
    await this.#end(this.#services[at]!, 'SIGKILL')
    this.#services[at] = await this.#started(at)
  }

  /** Ends all of them. */
  async stop(): Promise<void> {
    await Promise.all(this.#services.map(service => this.#end(service, 'SIGKILL')))
  }

  /** One of them, by its number, and its process id. */
  one(): { readonly at: number; readonly pid: number } {
    const at = this.#random(this.#services.length)
    return { at, pid: this.#services[at]!.child.pid as number }
  }

  /** What each has said of the store lately, for a reader who looks for a cause. */
  said(): readonly string[] {
    return this.#services.flatMap((service, at) =>
      service
        .log()
        .filter(({ msg }) => msg === 'the store')
        .slice(-SAID)
        .map(({ time, kind, detail = '' }) => `${at} at ${time} ${kind} ${detail}`),
    )
  }

  /** Sends a request once, to any of them. @returns its status; `null` if nothing came back */
  async once(path: string, headers: Readonly<Record<string, string>>, body: object) {
    const at = this.#random(this.#services.length)
    return (await this.#try(at, path, 'POST', headers, body))?.status ?? null
  }

  /** Sends a request until a replica answers it otherwise than with 503. */
  async ask(
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: object,
    method = body === undefined ? 'GET' : 'POST',
  ) {
    for (let trail = ''; ; ) {
      const at = this.#random(this.#services.length)
      const askedMs = performance.now()
      const answered = await this.#try(at, path, method, headers, body)
      const tookMs = Math.round(performance.now() - askedMs)
      trail += ` ${at}:${answered?.status ?? 'broken'} in ${tookMs} ms`
      if (answered !== null && answered.status !== 503) {
        this.counts.answered++
        return { ...answered, trail }
      }
      this.counts[answered === null ? 'broken' : 'refused']++
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
    }
  }

  async #started(at: number): Promise<ServiceProcess> {
    const service = await startProcess(this.#optionsOf(at, this.#isNext[at] === true))
    void service.exited.then(code => {
      if (this.#ended.has(service.child)) return
      const last = service.log().filter(({ level }) => level === FATAL)
      const text = service.stderr().slice(-LAST_CHARS)
      this.#onLost(`ended with ${code}: ${last.length > 0 ? JSON.stringify(last) : text}`)
      // As a supervisor does.
      void this.#started(at).then(again => {
        this.#services[at] = again
      })
    })
    return service
  }

  /** Ends one as the run means it. */
  async #end({ child, exited }: ServiceProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#ended.add(child)
    child.kill(signal)
    await exited
  }

  async #try(
    at: number,
    path: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body: object | undefined,
  ): Promise<Answered | null> {
    const { url } = this.#services[at]!
    const signal = AbortSignal.timeout(REQUEST_MS)
    try {
      const response = await fetch(`${url}${path}`, {
        headers: { 'content-type': 'application/json', ...headers },
        ...{ signal, method },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, answer: await response.json() }
    } catch {
      // It is gone, or it was killed on the way: nobody knows whether it had counted the call.
      return null
    }
  }
}
