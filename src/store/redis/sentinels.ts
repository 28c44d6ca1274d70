import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisNode } from '../../core/base/redis-address.ts'

/** A connection to a Sentinel. */
export interface SentinelLink {
  send(key: string, args: readonly string[]): Promise<unknown>
  close(): void
}

export interface SentinelsOptions {
  readonly nodes: readonly RedisNode[]
  /** The name by which they know the primary. */
  readonly primaryName: string
  /** Rejects if the node cannot be reached. @param onEnd called once if the connection ends */
  connect(node: RedisNode, onEnd: () => void): Promise<SentinelLink>
  /** How long Sentinels may name different primaries, in milliseconds: one may be out of date. */
  readonly disputeMs?: number
  /** How long most of them may not be heard before `isBlind`. */
  readonly blindMs?: number
}

/** A failover reaches all Sentinels within two seconds. */
const DISPUTE_MS = 5_000
/** How long the others may take once most of them agree. */
const GRACE_MS = 250
const ANSWER_MS = 2_000
const WATCH_MS = 250
/** After so long without most of them, others may have agreed on another primary. */
const BLIND_MS = 3_000

/**
 * The Sentinels of a primary. A primary that was thought dead may go on beside the new one, and
 * takes calls until it is told. So all Sentinels are asked, also while it answers: when one of them
 * names another primary, the old one is not used any more.
 */
export class Sentinels {
  readonly #options: SentinelsOptions
  readonly #links = new Map<RedisNode, Promise<SentinelLink>>()
  /** Kept over connections: one Sentinel that stays out of date must not hold up all of them. */
  #disputedSinceMs: number | null = null
  #heardMs = Number.NEGATIVE_INFINITY

  constructor(options: SentinelsOptions) {
    this.#options = options
  }

  /** Whether most Sentinels have not been heard lately: they may have made another primary. */
  get isBlind(): boolean {
    const { blindMs = BLIND_MS } = this.#options
    return performance.now() - this.#heardMs > blindMs
  }

  /** The primary's address. @throws Error if no Sentinel knows it, or they do not agree */
  async primary(): Promise<RedisNode> {
    const named = await this.#named()
    if (named === null) throw new Error('Socket: no Sentinel knows the primary')
    if (named === 'disputed') throw new Error('Socket: Sentinels name different primaries')
    return named
  }

  /**
   * Looks until `stop` is called whether it is still the primary.
   * @param onOther called once if it is not
   * @returns `stop`
   */
  watch(primary: RedisNode, onOther: (error: Error) => void): () => void {
    let isOver = false
    const stop = () => {
      isOver = true
      clearTimeout(timer)
    }
    const look = async () => {
      const named = await this.#named()
      if (isOver) return
      if (named === null || isSame(named, primary)) {
        timer = setTimeout(() => void look(), WATCH_MS).unref()
        return
      }
      stop()
      onOther(new Error('Socket: the Sentinels name another primary'))
    }
    let timer = setTimeout(() => void look(), WATCH_MS).unref()
    return stop
  }

  /** Closes the connections; those that are needed later are opened again. */
  close(): void {
    for (const link of this.#links.values()) link.then(each => each.close()).catch(() => {})
    this.#links.clear()
  }

  /** The address that they name; `null` if none of them answers. Never rejects. */
  async #named(): Promise<RedisNode | 'disputed' | null> {
    const answers = await this.#answers()
    const votes = Map.groupBy(answers, ({ host, port }) => `${host} ${port}`)
    const [first, second] = [...votes.values()].sort((a, b) => b.length - a.length)
    if (first === undefined) return null
    if (second === undefined) {
      this.#disputedSinceMs = null
      return first[0]!
    }
    this.#disputedSinceMs ??= performance.now()
    const { disputeMs = DISPUTE_MS } = this.#options
    const isOld = performance.now() - this.#disputedSinceMs >= disputeMs
    return isOld ? first[0]! : 'disputed'
  }

  /** What the Sentinels say, of which not all may answer. */
  async #answers(): Promise<readonly RedisNode[]> {
    const { nodes } = this.#options
    const answers: (RedisNode | null)[] = nodes.map(() => null)
    let count = 0
    const isMost = Promise.withResolvers<void>()
    const asked = nodes.map(async (node, i) => {
      answers[i] = await this.#ask(node)
      if (answers[i] === null || 2 * ++count <= nodes.length) return
      this.#heardMs = performance.now()
      isMost.resolve()
    })
    const limit = new AbortController()
    const within = (ms: number) => sleep(ms, undefined, { signal: limit.signal }).catch(() => {})
    const most = isMost.promise.then(() => within(GRACE_MS))
    await Promise.race([Promise.all(asked), most, within(ANSWER_MS)])
    limit.abort()
    return answers.filter(answer => answer !== null)
  }

  /** `null` if it does not answer, or does not know the name. */
  async #ask(node: RedisNode): Promise<RedisNode | null> {
    const link = this.#links.get(node) ?? this.#link(node)
    try {
      const command = ['SENTINEL', 'get-master-addr-by-name', this.#options.primaryName]
      const found = await (await link).send('', command)
      return Array.isArray(found) ? { host: String(found[0]), port: Number(found[1]) } : null
    } catch {
      this.#drop(node, link)
      return null
    }
  }

  #link(node: RedisNode): Promise<SentinelLink> {
    const link = this.#options.connect(node, () => this.#drop(node, link))
    this.#links.set(node, link)
    return link
  }

  #drop(node: RedisNode, link: Promise<SentinelLink>): void {
    if (this.#links.get(node) !== link) return
    this.#links.delete(node)
    link.then(each => each.close()).catch(() => {})
  }
}

function isSame(named: RedisNode | 'disputed', { host, port }: RedisNode): boolean {
  return named !== 'disputed' && named.host === host && named.port === port
}
