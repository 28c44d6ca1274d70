import { type ServiceProcess, startProcess } from '../../test/support/service-process.ts'
import type { Random } from '../support/random.ts'

export interface Answered {
  readonly status: number
  readonly answer: unknown
}

/** So long may a request take before its replica counts as gone. */
const REQUEST_MS = 20_000
/** How long a client waits before it asks again. */
const AGAIN_MS = 20

/** Replicas behind a load balancer of our own that takes any of them that answers. */
export class Replicas {
  readonly #services: ServiceProcess[] = []
  readonly #random: Random
  /** Of 100 requests to a session, so many come to the same replica. */
  readonly #stays: number
  readonly #envOf: (service: number) => NodeJS.ProcessEnv
  /** Requests that were answered with 503, and those that no replica answered. */
  readonly counts = { answered: 0, refused: 0, broken: 0 }

  /** @param envOf the environment of a service, by its number */
  constructor(random: Random, stays: number, envOf: (service: number) => NodeJS.ProcessEnv) {
    this.#random = random
    this.#stays = stays
    this.#envOf = envOf
  }

  async start(count: number): Promise<void> {
    const started = Array.from({ length: count }, (_, i) => startProcess({ env: this.#envOf(i) }))
    this.#services.push(...(await Promise.all(started)))
  }

  /** Kills one of them, and starts another one in its place. */
  async killOne(): Promise<void> {
    const at = this.#random(this.#services.length)
    const { child, exited } = this.#services[at]!
    child.kill('SIGKILL')
    await exited
    this.#services[at] = await startProcess({ env: this.#envOf(at) })
  }

  /** Ends all of them. */
  async stop(): Promise<void> {
    for (const { child } of this.#services) child.kill('SIGKILL')
    await Promise.all(this.#services.map(({ exited }) => exited))
  }

  /** The process id of one of them. */
  pidOfOne(): number {
    return this.#services[this.#random(this.#services.length)]!.child.pid as number
  }

  /**
   * Sends a request until a replica answers it otherwise than with 503.
   * @param home the replica that is asked first, as often as the run's agents stay with theirs
   */
  async ask(
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: object,
    home: number | null = null,
  ) {
    for (let trail = ''; ; ) {
      const isHome = home !== null && trail === '' && this.#random(100) < this.#stays
      const at = (isHome ? home : this.#random(this.#services.length)) % this.#services.length
      const askedMs = performance.now()
      const answered = await this.#try(at, path, headers, body)
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

  async #try(
    at: number,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: object | undefined,
  ): Promise<Answered | null> {
    const { url } = this.#services[at]!
    const signal = AbortSignal.timeout(REQUEST_MS)
    try {
      const response = await fetch(`${url}${path}`, {
        headers: { 'content-type': 'application/json', ...headers },
        signal,
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
      return { status: response.status, answer: await response.json() }
    } catch {
      // It is gone, or it was killed on the way: nobody knows whether it had counted the call.
      return null
    }
  }
}
