/** What went wrong with answers; all 0 if nothing did. */
export interface TicketCounts {
  /** Calls without an answer. */
  lost: number
  /** Answers of another call, or of another server. */
  crossed: number
  /** Answers that came twice, or calls that a server ran twice. */
  doubled: number
}

/**
 * Checks answers without asking the gateway: each call has a unique nonce, and its server writes
 * that nonce, its own number and the number of the call into the answer, once.
 */
export class Tickets {
  readonly #counts: TicketCounts = { lost: 0, crossed: 0, doubled: 0 }
  /** Numbers of calls that each server has answered. */
  readonly #seen = new Map<number, Set<number>>()

  lost(): void {
    this.#counts.lost++
  }

  take(answer: string, nonce: string, server: number): void {
    const tickets = [...answer.matchAll(/(nonce\d+)x(\d+)x(\d+)x/g)]
    const [, sent, by, number] = tickets[0] ?? []
    if (sent !== nonce || Number(by) !== server) {
      this.#counts.crossed++
      return
    }
    const seen = this.#seen.get(server) ?? new Set<number>()
    this.#seen.set(server, seen)
    if (tickets.length !== 1 || seen.has(Number(number))) this.#counts.doubled++
    seen.add(Number(number))
  }

  /** Calls that servers ran, and that nothing was answered of, have run twice. */
  counts(): TicketCounts {
    let unanswered = 0
    for (const seen of this.#seen.values()) unanswered += Math.max(...seen) - seen.size
    const { lost, crossed, doubled } = this.#counts
    return { lost, crossed, doubled: doubled + Math.max(0, unanswered - lost - crossed) }
  }
}
