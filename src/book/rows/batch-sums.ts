type Cell = string | number

/** A row of sums: what it is of, and what is added to it. */
interface SumRow {
  readonly key: readonly Cell[]
  readonly sums: readonly number[]
}

/** What is added to a conversation. */
interface ConversationSums {
  readonly tenant: string
  readonly id: string
  /** The source of the last request, or of a result if there was none. */
  source: string
  /** The model of the last request that named one; empty if none did. */
  model: string
  first_at: number
  last_at: number
  results: number
  before: number
  saved: number
  turns: number
  billed: number
  without: number
  /** Empty if they are not known. */
  project: string
  agent: string
}

/**
 * Sums of the rows of one write. Each row of sums is written once, because a statement takes longer
 * than everything else that is done for a result.
 */
export class BatchSums {
  readonly #resultHours = new Map<string, SumRow>()
  readonly #turnHours = new Map<string, SumRow>()
  readonly #conversations = new Map<string, ConversationSums>()

  resultHour(key: readonly Cell[], sums: readonly number[]): void {
    add(this.#resultHours, key, sums)
  }

  turnHour(key: readonly Cell[], sums: readonly number[]): void {
    add(this.#turnHours, key, sums)
  }

  /** The sums of a conversation at a time, to be added to. */
  conversation(tenant: string, id: string, at: number): ConversationSums {
    const name = `${tenant} ${id}`
    const known = this.#conversations.get(name)
    if (known !== undefined) {
      known.first_at = Math.min(known.first_at, at)
      known.last_at = Math.max(known.last_at, at)
      return known
    }
    const sums: ConversationSums = {
      tenant,
      id,
      source: '',
      model: '',
      first_at: at,
      last_at: at,
      results: 0,
      before: 0,
      saved: 0,
      turns: 0,
      billed: 0,
      without: 0,
      project: '',
      agent: '',
    }
    this.#conversations.set(name, sums)
    return sums
  }

  /** Rows of sums as the cells of their statements. */
  *rows(): Generator<readonly ['resultHour' | 'turnHour' | 'conversation', readonly Cell[]]> {
    for (const { key, sums } of this.#resultHours.values()) yield ['resultHour', [...key, ...sums]]
    for (const { key, sums } of this.#turnHours.values()) yield ['turnHour', [...key, ...sums]]
    for (const sums of this.#conversations.values()) yield ['conversation', Object.values(sums)]
  }
}

function add(all: Map<string, SumRow>, key: readonly Cell[], sums: readonly number[]): void {
  const name = JSON.stringify(key)
  const known = all.get(name)
  all.set(name, { key, sums: known?.sums.map((sum, at) => sum + sums[at]!) ?? sums })
}
