import { setTimeout as sleep } from 'node:timers/promises'
import type { Findings } from './agent.ts'
import type { Replicas } from './replicas.ts'

/** What the pacer's key may do. */
export const PACE = { rate_per_s: 10, burst: 3 } as const

export interface PacerOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly replicas: Replicas
  readonly findings: Findings
}

/** A request that passed. */
interface Passed {
  readonly sentMs: number
  readonly answeredMs: number
}

const WINDOW_MS = 5_000
const AT_ONCE = 6
const PAUSE_MS = 250
/** What one replica may have ahead: 50 ms of the rate, or its share of the burst. */
const LEASE = 1
/** A server that forgot, and processes that start, may let a burst and new leases pass again. */
const AGAIN = PACE.burst + LEASE

/** A client that asks for more than its key allows, and counts what passes. */
export class Pacer {
  readonly #options: PacerOptions
  #passed: readonly Passed[] = []

  constructor(options: PacerOptions) {
    this.#options = options
  }

  /** Sends some requests to any replicas. */
  async act(): Promise<void> {
    const { findings, replicas, headers } = this.#options
    const sent = Array.from({ length: AT_ONCE }, async () => {
      const sentMs = findings.nowMs()
      const status = await replicas.once('/v1/count', headers, { content: 'x' })
      if (status === 200) return { sentMs, answeredMs: findings.nowMs() }
      if (status !== 429 && status !== 503 && status !== null)
        this.#fault(`a paced request answered ${status}`)
      return null
    })
    const passed = (await Promise.all(sent)).filter(each => each !== null)
    findings.counts.paced += passed.length
    this.#passed = [...this.#passed, ...passed]
    this.#judge()
    await sleep(PAUSE_MS)
  }

  /** Counts the requests that were sent and answered within the last seconds. */
  #judge(): void {
    const { findings, replicas } = this.#options
    const fromMs = findings.nowMs() - WINDOW_MS
    this.#passed = this.#passed.filter(({ sentMs }) => sentMs >= fromMs)
    const disturbed = findings.disturbances.filter(ms => ms >= fromMs - WINDOW_MS).length
    const leases = replicas.count * LEASE
    const { rate_per_s: rate, burst } = PACE
    const most = (rate * WINDOW_MS) / 1_000 + burst + leases + disturbed * (AGAIN + leases)
    if (this.#passed.length > most)
      this.#fault(`${this.#passed.length} requests of a key passed in 5 s instead of ${most}`)
  }

  #fault(what: string): void {
    const { findings } = this.#options
    findings.violations.push(what)
    process.stderr.write(`${findings.nowMs()} violation: ${what}\n`)
  }
}
