import { CacheHints } from './catalogue/cache-hints.ts'
import { LIST_KINDS, type ListEntry, type ListKind } from './catalogue/catalogue.ts'
import { ListRoom } from './catalogue/lists/list-room.ts'
import { ServerLists } from './catalogue/server-lists.ts'
import type { GatewayServer } from './gateway-options.ts'
import { errorOutcome, RPC_ERRORS } from './json-rpc.ts'
import { EMPTY_OBJECT, textMember } from './members.ts'
import type { ServerFacts, UpstreamConnection } from './upstream/connection.ts'

/** What a server is like when it is asked now. */
export interface CheckedServer {
  /** `null` if it did not answer in time. */
  readonly facts: ServerFacts | null
  /** Why it cannot be used; `null` if it can. */
  readonly failure: string | null
  /** As it lists them, without those that are excluded. */
  readonly tools: readonly ListEntry[]
  readonly prompts: readonly ListEntry[]
  readonly resources: readonly ListEntry[]
  readonly templates: readonly ListEntry[]
  /** Entries that clients would refuse, and lists whose reading ended early. */
  readonly odd: readonly OddList[]
  /** The last of what it wrote to standard error, or the last fault of the network. */
  readonly lastErrors: string
}

/** What is wrong with a list, or with one entry of it. */
export interface OddList {
  readonly kind: ListKind
  /** What became of it. */
  readonly was: 'mended' | 'left out' | 'cut'
  /** Its name or URI. */
  readonly entry?: string
  /** Those that were wrong. */
  readonly members?: readonly string[]
  /** Why it was cut. */
  readonly reason?: string
}

const NO_CLIENT = () =>
  Promise.resolve(errorOutcome(RPC_ERRORS.methodNotFound, 'nobody is there to ask'))

const CLIENT = { name: null, info: null, capabilities: EMPTY_OBJECT, notify() {}, ask: NO_CLIENT }

/** Connects to a server, reads its lists, and leaves. Never rejects. */
export async function checkServer(server: GatewayServer, limitMs: number): Promise<CheckedServer> {
  const connection = server.connect(CLIENT, {
    onNotification() {},
    onRequest: NO_CLIENT,
    onConnected() {},
    onLost() {},
  })
  const deadline = Promise.withResolvers<null>()
  const timer = setTimeout(() => deadline.resolve(null), limitMs)
  try {
    const facts = await Promise.race([connection.facts(), deadline.promise])
    if (facts === null) return failed(await whyDown(connection), connection)
    return await readLists(server, connection, facts, deadline.promise)
  } finally {
    clearTimeout(timer)
    await connection.close()
  }
}

async function readLists(
  { name, settings }: GatewayServer,
  connection: UpstreamConnection,
  facts: ServerFacts,
  deadline: Promise<null>,
): Promise<CheckedServer> {
  // Unlike a catalogue, this keeps names that are listed twice.
  const found = new Map<ListKind, readonly ListEntry[]>()
  const catalogue = {
    set: (_: string, kind: ListKind, entries: readonly ListEntry[]) =>
      found.set(kind, entries).has(kind),
  }
  const unread: string[] = []
  const odd: OddList[] = []
  const lists = new ServerLists({
    catalogue,
    hints: new CacheHints(),
    client: CLIENT,
    serverOf: () => ({ connection, settings, facts, memory: undefined }),
    room: new ListRoom(),
    onServer(_, event, detail) {
      if (event === 'unlisted') unread.push((detail as { kind: string }).kind)
      else if (event === 'mended' || event === 'left out' || event === 'cut') {
        odd.push({ ...(detail as Omit<OddList, 'was'>), was: event })
      }
    },
  })
  const read = await Promise.race([lists.refresh(name, LIST_KINDS), deadline])
  lists.close()
  if (read === null) unread.push('lists in time')
  const failure = unread.length === 0 ? null : `it does not give its ${unread.join(', ')}`
  const [tools = [], prompts = [], resources = [], templates = []] = LIST_KINDS.map(
    kind => found.get(kind) ?? [],
  )
  const lastErrors = connection.lastErrors()
  return { facts, failure, tools, prompts, resources, templates, odd, lastErrors }
}

async function whyDown(connection: UpstreamConnection): Promise<string> {
  const end = await connection.call({
    method: 'ping',
    params: null,
    signal: new AbortController().signal,
    timeoutMs: 1_000,
    canRepeat: false,
    notify() {},
    ask: NO_CLIENT,
  })
  if (end.kind === 'unauthorized') return 'it refuses the configured credentials'
  return (end.kind === 'down' ? end.detail : undefined) ?? 'it does not answer'
}

function failed(failure: string, connection: UpstreamConnection): CheckedServer {
  const none = { tools: [], prompts: [], resources: [], templates: [], odd: [] }
  return { facts: null, failure, ...none, lastErrors: connection.lastErrors() }
}

/** The name and version that a server states of itself; `null` if none. */
export function serverVersion({ serverInfo }: ServerFacts): string | null {
  if (serverInfo === null) return null
  const parts = [textMember(serverInfo, 'name'), textMember(serverInfo, 'version')]
  return parts.filter(part => part !== null).join(' ')
}
