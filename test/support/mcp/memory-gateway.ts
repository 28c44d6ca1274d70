import {
  Enrichment,
  type EnrichmentObserver,
  type EnrichmentSettings,
} from '../../../src/ahead/enrichment.ts'
import { Habits } from '../../../src/ahead/habits.ts'
import { shippedModels } from '../../../src/config/shipped-models.ts'
import type { ToolModels } from '../../../src/core/enrich/value-model.ts'
import { readOffersOperation } from '../../../src/core/operations/read-offers.ts'
import type { LandedResult, OfferReader } from '../../../src/mcp/ahead/offer-reader.ts'
import type { ToolSearchOptions } from '../../../src/mcp/catalogue/search/search-options.ts'
import type { ComposedTool } from '../../../src/mcp/composed/composed-tool.ts'
import { createGateway, type Gateway } from '../../../src/mcp/gateway.ts'
import type { ClientCall, GatewayOptions, GatewayServer } from '../../../src/mcp/gateway-options.ts'
import { errorOutcome } from '../../../src/mcp/json-rpc.ts'
import type {
  CallEnd,
  ConnectionListener,
  ServerFacts,
  UpstreamCall,
} from '../../../src/mcp/upstream/connection.ts'
import { lengthCounter } from '../length-counter.ts'

/** A call that a server got. */
export interface ReceivedCall {
  readonly tool: string
  /** JSON. */
  readonly args: string
  readonly call: UpstreamCall
}

type Handler = (received: ReceivedCall) => Promise<CallEnd | string> | CallEnd | string

/** A server in memory, that records what it is asked. */
export class MemoryServer {
  readonly name: string
  readonly calls: ReceivedCall[] = []
  readonly trusted: boolean
  /** Definitions as the server lists them. */
  tools: readonly object[]
  /** Answers a call: a result as JSON, or how it ended. */
  handler: Handler = () => textResult('ok')
  readonly #listeners = new Set<ConnectionListener>()

  /** What it states for the model. */
  instructions: string | null = null

  constructor(name: string, tools: readonly object[], trusted = true) {
    this.name = name
    this.tools = tools
    this.trusted = trusted
  }

  /** Calls of a tool, their arguments as JSON. */
  argsOf(tool: string): readonly string[] {
    return this.calls.filter(each => each.tool === tool).map(({ args }) => args)
  }

  announce(method: string): void {
    for (const listener of this.#listeners) listener.onNotification(method, null)
  }

  /** Its process ended, and started again. */
  restart(): void {
    for (const listener of this.#listeners) {
      listener.onLost()
      listener.onConnected(FACTS)
    }
  }

  gatewayServer(): GatewayServer {
    return {
      name: this.name,
      settings: {
        ...{
          mode: 'lossless',
          structured: 'keep',
          timeout_ms: 60_000,
          include: ['*'],
          exclude: [],
        },
        ...{ trusted: this.trusted, resources: false },
      },
      connect: (_, listener) => {
        this.#listeners.add(listener)
        const facts = { ...FACTS, instructions: this.instructions }
        queueMicrotask(() => listener.onConnected(facts))
        return {
          facts: async () => facts,
          call: call => this.#answer(call),
          notify: () => {},
          counts: () => ({ torn: 0, foreign: 0, reconnects: 0 }),
          lastErrors: () => '',
          close: async () => void this.#listeners.delete(listener),
        }
      },
    }
  }

  async #answer(call: UpstreamCall): Promise<CallEnd> {
    if (call.method === 'tools/list') return result(listText(this.tools))
    if (call.method !== 'tools/call') {
      return { kind: 'answered', outcome: errorOutcome(-32601, 'no such method') }
    }
    const { name, arguments: args = {} } = JSON.parse(String(call.params))
    const received = { tool: name, args: JSON.stringify(args), call }
    this.calls.push(received)
    const answer = await this.handler(received)
    return typeof answer === 'string' ? result(answer) : answer
  }
}

const FACTS: ServerFacts = {
  era: 'legacy',
  protocolVersion: '2025-11-25',
  capabilities: Buffer.from('{"tools":{"listChanged":true}}'),
  serverInfo: null,
  instructions: null,
}

/** Each client asks for the same list, and most runs of a property list few tools. */
const listTexts = new WeakMap<readonly object[], string>()

function listText(tools: readonly object[]): string {
  const text = listTexts.get(tools) ?? JSON.stringify({ tools })
  listTexts.set(tools, text)
  return text
}

function result(json: string): CallEnd {
  return { kind: 'answered', outcome: { kind: 'result', result: Buffer.from(json) } }
}

export function textResult(text: string, more: object = {}): string {
  return JSON.stringify({ content: [{ type: 'text', text }], ...more })
}

/** Reads offers at once, with one token for each character. */
const readInPlace: OfferReader = async (body, offers) => {
  const counter = lengthCounter(1)
  const context = { maxDepth: 256, counters: { get: () => counter }, terms: { offers } }
  const { bytes } = readOffersOperation.run(body, context as never)
  return JSON.parse(String(Buffer.from(bytes as Uint8Array)))
}

export interface MemoryGatewayOptions {
  readonly mined?: ToolModels
  readonly settings?: Partial<EnrichmentSettings>
  readonly tools?: ToolModels
  readonly composed?: readonly ComposedTool[]
  readonly read?: OfferReader
  readonly now?: () => number
  readonly maxParallel?: number
  readonly tenant?: string
  readonly legend?: string
  readonly search?: Partial<ToolSearchOptions>
  /** `clientInfo.name`. */
  readonly clientName?: string
  /** Shared with another gateway. */
  readonly shared?: Enrichment<LandedResult>
  readonly observer?: EnrichmentObserver
}

/** A tool as a client sees it. */
export interface ListedTool {
  readonly name: string
  readonly description?: string
  readonly annotations?: Readonly<Record<string, unknown>>
}

/** Tools on demand, whatever they cost, with nothing learned. */
const SEARCH: ToolSearchOptions = {
  ...{ mode: 'always', keep: [] },
  isStatedReadOnly: () => undefined,
  learned: { recent: () => [], begin: () => () => {} },
}

/** A store of one record. */
export function memoryRecords() {
  const records = new Map<string, { value: Uint8Array; version: number }>()
  return {
    records,
    async readRecord({ tenant, key }: { tenant: string; key: string }) {
      const found = records.get(`${tenant} ${key}`)
      if (found === undefined) return { ok: false, reason: 'not_found', detail: '' } as const
      return { ok: true, ...found, expires_at: null } as const
    },
    async writeRecord(write: {
      readonly tenant: string
      readonly key: string
      readonly value: Uint8Array
      readonly ifVersion?: number
    }) {
      const name = `${write.tenant} ${write.key}`
      const version = records.get(name)?.version ?? 0
      if (write.ifVersion !== undefined && write.ifVersion !== version) {
        return { ok: false, reason: 'conflict', detail: '' } as const
      }
      records.set(name, { value: write.value, version: version + 1 })
      return { ok: true, version: version + 1 } as const
    },
  }
}

export function makeEnrichment(options: MemoryGatewayOptions = {}): Enrichment<LandedResult> {
  const { tools = {}, mined = {}, now = () => performance.now(), maxParallel = 3 } = options
  const settings: EnrichmentSettings = {
    ...{
      isEnabled: true,
      layers: { shipped: shippedModels(), mined, user: tools },
      minProbability: 0.3,
      budgetTokens: 8_000,
      isCostAware: false,
    },
    announceMs: 0,
    ...options.settings,
  }
  const nothing = () => {}
  return new Enrichment({
    settings: () => settings,
    ...{ maxParallel, now, respectsRateLimits: true },
    habits: new Habits({ store: memoryRecords(), now: Date.now, onUnsaved: nothing }),
    observer: options.observer ?? nothing,
  })
}

/** One client of the gateway, before servers in memory. Results leave as their servers gave them. */
export async function connectMemory(
  servers: readonly MemoryServer[],
  options: MemoryGatewayOptions = {},
) {
  const shared = options.shared ?? makeEnrichment(options)
  const bugs: unknown[] = []
  const asked: string[] = []
  /** Notifications that belong to no call. */
  const notices: string[] = []
  /** Contexts of calls, in their order. */
  const arrivals: string[] = []
  const epochs = new Map<string, number>()
  const ask: ClientCall['ask'] = async method => {
    asked.push(method)
    return { kind: 'result', result: Buffer.from('{}') }
  }
  const gatewayOptions: GatewayOptions = {
    servers: servers.map(server => server.gatewayServer()),
    composed: options.composed ?? [],
    tenant: options.tenant ?? 't',
    ...(options.legend === undefined ? {} : { legend: options.legend }),
    ...(options.search === undefined ? {} : { search: { ...SEARCH, ...options.search } }),
    client: {
      ...{ name: options.clientName ?? 'test', info: null, capabilities: Buffer.from('{}') },
      ask,
      notify: method => void notices.push(method),
    },
    pack: async body => body,
    onToolCall: () => {},
    contexts: {
      arrive(context) {
        arrivals.push(context)
        return { session: context, sequence: 0, epoch: epochs.get(context) ?? 0 }
      },
      isCurrent: () => true,
      sessionOf: context => context,
      lost: () => {},
    },
    originals: {} as GatewayOptions['originals'],
    alwaysRetrieves: false,
    enrichment: {
      shared,
      read: options.read ?? readInPlace,
      onBug: error => void bugs.push(error),
    },
    onServer: (_, event, detail) => {
      if (event === 'bug') bugs.push(detail)
    },
  }
  const gateway: Gateway = createGateway(gatewayOptions)
  await gateway.ready(1_000)
  const call = async (
    name: string,
    args: object | string = {},
    more: { readonly context?: string; readonly meta?: object; readonly signal?: AbortSignal } = {},
  ) => {
    const given = typeof args === 'string' ? args : JSON.stringify(args)
    const meta = more.meta === undefined ? '' : `,"_meta":${JSON.stringify(more.meta)}`
    const outcome = await gateway.handle({
      method: 'tools/call',
      params: Buffer.from(`{"name":${JSON.stringify(name)},"arguments":${given}${meta}}`),
      signal: more.signal ?? new AbortController().signal,
      context: more.context ?? null,
      notify: () => {},
      ask,
    })
    return JSON.parse(String(outcome.kind === 'result' ? outcome.result : outcome.error))
  }
  /** Resolves when nothing is on its way. */
  const settled = async () => {
    for (let round = 0; round < 20; round++) await new Promise(resolve => setImmediate(resolve))
  }
  const compact = (context: string) => epochs.set(context, (epochs.get(context) ?? 0) + 1)
  /** A whole list of tools, as the client gets it. */
  const list = async (cursor?: string): Promise<readonly ListedTool[]> => {
    const outcome = await gateway.handle({
      method: 'tools/list',
      params: Buffer.from(JSON.stringify(cursor === undefined ? {} : { cursor })),
      ...{ signal: new AbortController().signal, context: null, notify: () => {}, ask },
    })
    if (outcome.kind === 'error') throw new Error(String(outcome.error))
    const { tools, nextCursor } = JSON.parse(String(outcome.result))
    return nextCursor === undefined ? tools : [...tools, ...(await list(nextCursor))]
  }
  return { gateway, call, list, shared, bugs, asked, notices, arrivals, settled, compact }
}
