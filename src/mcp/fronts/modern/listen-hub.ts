import { type JsonBytes, parseAt } from '../../../core/json/bytes/json-node.ts'
import type { ClientCall } from '../../gateway-options.ts'
import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from '../../json-rpc.ts'
import { EMPTY_OBJECT, member, objectMember, textMember, withMember } from '../../members.ts'
import { META } from '../../upstream/envelope.ts'
import type { McpCaller } from '../http-exchange.ts'

const UPDATED = 'notifications/resources/updated'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** Resources of one request. */
const MOST_URIS = 100

/** What a request may ask for: its flag, the capability behind it, the notification. */
const CHANGES = [
  ['toolsListChanged', 'tools', 'notifications/tools/list_changed'],
  ['promptsListChanged', 'prompts', 'notifications/prompts/list_changed'],
  ['resourcesListChanged', 'resources', 'notifications/resources/list_changed'],
] as const

/** What the client of a hub can watch. */
export interface Watched {
  /** A JSON object. */
  capabilities(): JsonBytes
  handle(call: ClientCall): Promise<Outcome>
}

/** One request `subscriptions/listen`. */
export interface Listener {
  /** Its id, as the client spelled it. */
  readonly id: JsonBytes
  readonly params: JsonBytes
  readonly signal: AbortSignal
  /** Returns `false` if the client does not read: the request is over. */
  notify(method: string, params: JsonBytes): boolean
}

interface Honoured {
  readonly lists: readonly (typeof CHANGES)[number][]
  readonly uris: readonly string[]
}

interface Open {
  readonly listener: Listener
  readonly methods: ReadonlySet<string>
  readonly uris: readonly string[]
  /** `isGraceful`: with an answer. */
  end(isGraceful: boolean): void
}

/** The listening requests of one client. Each hears what it asked for, and nothing else. */
export class ListenHub {
  readonly #watched: () => Watched
  readonly #open = new Set<Open>()
  /** How many requests watch a resource. */
  readonly #uris = new Map<string, { count: number; readonly granted: Promise<boolean> }>()
  #isClosed = false

  constructor(watched: () => Watched) {
    this.#watched = watched
  }

  /** What the servers of this client report. */
  notify(method: string, params: JsonBytes | null): void {
    const uri = method === UPDATED && params !== null ? textMember(params, 'uri') : null
    for (const each of this.#open) {
      const isWanted = method === UPDATED ? isWatched(uri, each.uris) : each.methods.has(method)
      if (isWanted) this.#send(each, method, params ?? EMPTY_OBJECT)
    }
  }

  /**
   * Serves one request until its client or we end it. Never rejects.
   * @returns the answer; `null` if there is none to send
   */
  async listen(listener: Listener): Promise<Outcome | null> {
    const asked = readAsked(listener.params)
    if (asked === null) return INVALID
    const lists = asked.lists.filter(([, capability]) => this.#can(capability, 'listChanged'))
    const mayWatch = this.#can('resources', 'subscribe')
    const uris = mayWatch ? await this.#watch(asked.uris) : []
    const ended = Promise.withResolvers<boolean>()
    const methods = new Set<string>(lists.map(([, , method]) => method))
    const open: Open = { listener, methods, uris, end: ended.resolve }
    const abort = () => ended.resolve(false)
    listener.signal.addEventListener('abort', abort)
    try {
      if (listener.signal.aborted) return null
      this.#open.add(open)
      const isRead = this.#send(open, ACKNOWLEDGED, acknowledgement({ lists, uris }))
      if (!isRead) return null
      const isNothing = lists.length === 0 && uris.length === 0
      const isGraceful = isNothing || this.#isClosed || (await ended.promise)
      return isGraceful ? { kind: 'result', result: closing(listener.id) } : null
    } finally {
      listener.signal.removeEventListener('abort', abort)
      this.#open.delete(open)
      this.#unwatch(uris)
    }
  }

  /** Ends all requests with their answers. */
  close(): void {
    this.#isClosed = true
    for (const { end } of this.#open) end(true)
  }

  #send(open: Open, method: string, params: JsonBytes): boolean {
    const { listener } = open
    const meta = withMember(
      objectMember(params, '_meta') ?? EMPTY_OBJECT,
      META.subscriptionId,
      listener.id,
    )
    const own = meta && withMember(params, '_meta', meta)
    if (own === null) return true
    if (listener.notify(method, own)) return true
    open.end(false)
    return false
  }

  #can(capability: string, what: string): boolean {
    const named = objectMember(this.#watched().capabilities(), capability)
    return named !== null && member(named, what)?.toString('latin1') === 'true'
  }

  /** @returns those that are watched now */
  async #watch(uris: readonly string[]): Promise<readonly string[]> {
    const granted = await Promise.all(
      uris.map(uri => {
        const known = this.#uris.get(uri)
        if (known !== undefined) {
          known.count++
          return known.granted
        }
        const first = { count: 1, granted: this.#tell('resources/subscribe', uri) }
        this.#uris.set(uri, first)
        return first.granted
      }),
    )
    this.#unwatch(uris.filter((_, at) => granted[at] === false))
    return uris.filter((_, at) => granted[at] === true)
  }

  #unwatch(uris: readonly string[]): void {
    for (const uri of uris) {
      const known = this.#uris.get(uri)
      if (known === undefined || --known.count > 0) continue
      this.#uris.delete(uri)
      void this.#tell('resources/unsubscribe', uri)
    }
  }

  async #tell(method: string, uri: string): Promise<boolean> {
    const refused = errorOutcome(RPC_ERRORS.methodNotFound, 'nothing can be asked here')
    const outcome = await this.#watched().handle({
      method,
      params: jsonBytes({ uri }),
      signal: NEVER,
      context: null,
      notify: () => {},
      ask: () => Promise.resolve(refused),
    })
    return outcome.kind === 'result'
  }
}

const NEVER = new AbortController().signal

const INVALID = errorOutcome(
  RPC_ERRORS.invalidParams,
  `notifications needs flags, and at most ${MOST_URIS} URIs in resourceSubscriptions`,
)

/** What a client listens to, in bytes. */
const MOST_BYTES = 1024 * 1024

function readAsked(params: JsonBytes): Honoured | null {
  const raw = objectMember(params, 'notifications')
  if (raw === null || raw.length > MOST_BYTES) return null
  const asked = parseAt(raw, { start: 0, end: raw.length }) as Readonly<Record<string, unknown>>
  const flags = CHANGES.map(([flag]) => (Object.hasOwn(asked, flag) ? asked[flag] : undefined))
  if (flags.some(flag => flag !== undefined && typeof flag !== 'boolean')) return null
  const lists = CHANGES.filter((_, at) => flags[at] === true)
  const { resourceSubscriptions: uris = [] } = asked
  const isList = Array.isArray(uris) && uris.length <= MOST_URIS
  if (!isList || uris.some(uri => typeof uri !== 'string')) return null
  return { lists, uris: [...new Set<string>(uris)] }
}

function acknowledgement({ lists, uris }: Honoured): JsonBytes {
  const flags = Object.fromEntries(lists.map(([flag]) => [flag, true]))
  const watched = uris.length === 0 ? {} : { resourceSubscriptions: uris }
  return jsonBytes({ notifications: { ...flags, ...watched } })
}

/** A watched resource may contain the one that changed. */
function isWatched(uri: string | null, uris: readonly string[]): boolean {
  return uri !== null && uris.some(each => uri === each || uri.startsWith(`${each}/`))
}

function closing(id: JsonBytes): JsonBytes {
  return Buffer.from(`{"resultType":"complete","_meta":{"${META.subscriptionId}":${id}}}`)
}

/** Bounds how many requests listen at a time: of one caller, and of all. */
export class ListenLimit {
  readonly #most: number
  readonly #mostOfCaller: number
  readonly #counts = new Map<string, number>()
  #all = 0

  constructor(most: number, mostOfCaller: number) {
    this.#most = most
    this.#mostOfCaller = mostOfCaller
  }

  /** @returns what must be called at the end; `null` if there are too many */
  enter({ tenant, credential }: McpCaller): (() => void) | null {
    const key = JSON.stringify([tenant, credential])
    const count = this.#counts.get(key) ?? 0
    if (this.#all >= this.#most || count >= this.#mostOfCaller) return null
    this.#counts.set(key, count + 1)
    this.#all++
    return () => {
      this.#all--
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left === 0) this.#counts.delete(key)
      else this.#counts.set(key, left)
    }
  }
}
