import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { type CacheHint, UNCACHED } from '../../catalogue/cache-hints.ts'
import { LIST_KINDS, LISTS } from '../../catalogue/catalogue.ts'
import { CONTEXT_HEADER, contextOf } from '../../client/contexts/context-of.ts'
import type { Gateway } from '../../gateway.ts'
import type { ClientCall, GatewayClient } from '../../gateway-options.ts'
import {
  errorOutcome,
  jsonBytes,
  type Outcome,
  type RequestMessage,
  RPC_ERRORS,
} from '../../json-rpc.ts'
import { EMPTY_OBJECT, member, textMember, withMember } from '../../members.ts'
import { type Clock, SYSTEM_CLOCK } from '../../upstream/clock.ts'
import { MODERN_VERSIONS } from '../../upstream/handshake.ts'
import type { McpCaller } from '../http-exchange.ts'
import { completeResult } from './complete-result.ts'
import { errorCode } from './error-status.ts'
import { GatewayPool, POOL_LIMITS, type PooledGateway, type PoolLimits } from './gateway-pool.ts'
import type { ReadHeader } from './header-text.ts'
import { ListenLimit } from './listen-hub.ts'
import { checkMirrors } from './mirrored-headers.ts'
import { ParkedCalls } from './parked-calls.ts'
import { wantedNotice } from './request-notices.ts'
import { checkRequest, type Envelope, MODERN_ERRORS } from './request-rules.ts'
import { RequestStates } from './request-state.ts'
import { createRounds, type RoundNeeds } from './rounds.ts'
import { Seal } from './seal.ts'
import { declaresTasks, TASK_METHODS, TASKS, TaskHandles } from './task-handles.ts'

/** How long `server/discover` and new listeners wait for servers, in milliseconds. */
const READY_MS = 5_000

export interface ModernServerOptions {
  /** Our own. */
  readonly version: string
  /** Names all of this server's clients, if they are one context; absent: they are not. */
  readonly context?: string
  /** 32 bytes that seal what clients keep for us: states of calls, and handles of tasks. */
  readonly sealingKey: Uint8Array
  /** Makes the gateway of one kind of clients; it is closed here. */
  createGateway(client: GatewayClient, caller: McpCaller): Gateway
  /** Differs once other servers are in force; absent: they never change. */
  generation?(): number
  /** Reports an error that nothing expected. */
  onBug(error: unknown): void
  readonly clock?: Clock
  /** Milliseconds since 1970. */
  readonly now?: () => number
  readonly limits?: Partial<ModernLimits>
}

export interface ModernLimits extends PoolLimits {
  /** Calls of one tenant that wait for input. */
  readonly parked: number
  /** Open `subscriptions/listen` of one caller, and of all. */
  readonly listensOfCaller: number
  readonly listens: number
}

const LIMITS: ModernLimits = { ...POOL_LIMITS, parked: 100, listensOfCaller: 64, listens: 1024 }

/** A request, and what belongs to it. */
export interface ModernRequest {
  readonly message: Pick<RequestMessage, 'id' | 'method' | 'params'>
  readonly caller: McpCaller
  /** Reads headers of the POST; `null` for other transports. */
  readonly header: ReadHeader | null
  /** Aborted when the client does not want the answer any more. */
  readonly signal: AbortSignal
  /** Sends a notification before the answer. Returns `false` if the client does not read. */
  notify(method: string, params: JsonBytes | null): boolean
}

/** How a request ended. */
export interface ModernAnswer {
  readonly outcome: Outcome
  /** Whether it was refused for what every request has to have: over HTTP, the status is 400. */
  readonly isRefused: boolean
}

/** Methods that go to the servers, and whether they may ask for input. */
const METHODS: ReadonlyMap<string, { readonly mayAsk: boolean }> = new Map([
  ['tools/list', { mayAsk: false }],
  ['tools/call', { mayAsk: true }],
  ['prompts/list', { mayAsk: false }],
  ['prompts/get', { mayAsk: true }],
  ['resources/list', { mayAsk: false }],
  ['resources/templates/list', { mayAsk: false }],
  ['resources/read', { mayAsk: true }],
  ['completion/complete', { mayAsk: false }],
])

/** Methods that are answered here. */
const OWN_METHODS: ReadonlySet<string> = new Set(['server/discover', 'subscriptions/listen'])

function isMethod(name: string): boolean {
  return METHODS.has(name) || OWN_METHODS.has(name) || TASK_METHODS.has(name)
}

/** Serves clients of the revision 2026-07-28, whatever their transport. */
export class ModernServer {
  readonly #pool: GatewayPool
  readonly #rounds: RoundNeeds
  readonly #listens: ListenLimit
  readonly #info: JsonBytes
  readonly #context: string | null
  readonly #onBug: ModernServerOptions['onBug']
  readonly #closing = new AbortController()

  constructor(options: ModernServerOptions) {
    const { clock = SYSTEM_CLOCK, now = Date.now, createGateway } = options
    this.#onBug = options.onBug
    this.#context = options.context ?? null
    const limits = { ...LIMITS, ...options.limits }
    const seal = new Seal(options.sealingKey)
    const generation = options.generation ?? (() => 0)
    this.#pool = new GatewayPool({ createGateway, generation, clock, limits })
    this.#rounds = {
      states: new RequestStates(seal, now),
      parked: new ParkedCalls(clock, limits.parked),
      tasks: new TaskHandles(seal),
      clock,
    }
    this.#listens = new ListenLimit(limits.listens, limits.listensOfCaller)
    this.#info = jsonBytes({ name: 'haversack', version: options.version })
  }

  /**
   * Answers one request. Never rejects.
   * @returns `null` if there is no answer to send, since the client has gone
   */
  async answer(request: ModernRequest): Promise<ModernAnswer | null> {
    const checked = checkRequest(request.message, request.header)
    if (checked.kind === 'refused') return { outcome: checked.outcome, isRefused: true }
    try {
      const outcome = await this.#answer(request, checked.envelope)
      return outcome === null ? null : { outcome, isRefused: false }
    } catch (error) {
      this.#onBug(error)
      const outcome = errorOutcome(RPC_ERRORS.internal, 'an unexpected error; it was logged')
      return { outcome, isRefused: false }
    }
  }

  /** Ends subscriptions with their answers; calls go on. */
  drain(): void {
    this.#pool.drain()
  }

  /** Ends streams with their answers, and cancels calls. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#rounds.parked.close()
    await this.#pool.close()
  }

  async #answer(request: ModernRequest, envelope: Envelope): Promise<Outcome | null> {
    const { message, caller } = request
    if (!isMethod(message.method)) {
      return errorOutcome(RPC_ERRORS.methodNotFound, `no method ${message.method}`)
    }
    const pooled = this.#pool.of(caller, envelope)
    if (pooled === null) {
      return errorOutcome(RPC_ERRORS.internal, 'too many kinds of clients are served at once')
    }
    const release = pooled.hold()
    try {
      const outcome = await this.#outcomeOf(request, envelope, pooled)
      return request.signal.aborted ? null : outcome
    } finally {
      release()
    }
  }

  async #outcomeOf(
    request: ModernRequest,
    envelope: Envelope,
    pooled: PooledGateway,
  ): Promise<Outcome | null> {
    const { method } = request.message
    if (method === 'server/discover') return this.#discover(pooled.gateway)
    if (method === 'subscriptions/listen') return this.#listen(request, pooled)
    const known = METHODS.get(method)
    if (known === undefined) return this.#task(request, envelope, pooled)
    const refused = await mirrorFault(request, pooled.gateway)
    if (refused !== null) return refused
    if (known.mayAsk) await pooled.hear(envelope.logLevel, request.signal)
    const outcome = await this.#call(request, envelope, known.mayAsk ? pooled : null, call =>
      pooled.gateway.handle(call),
    )
    const hint = hintFor(method, pooled.gateway)
    return this.#completed(modernOutcome(request.message, outcome), hint)
  }

  /**
   * Runs a call whose notifications end with it.
   * @param asking holds the connections of a call that waits for input; `null` if none may
   */
  async #call(
    { message, header, caller, signal, notify }: ModernRequest,
    envelope: Envelope,
    asking: PooledGateway | null,
    run: (call: ClientCall) => Promise<Outcome>,
  ): Promise<Outcome> {
    let isOpen = true
    const tell = (method: string, params: JsonBytes | null) => {
      const wanted = isOpen && !signal.aborted ? wantedNotice(method, params, envelope) : null
      if (wanted !== null) notify(method, wanted)
    }
    const ended = AbortSignal.any([signal, this.#closing.signal])
    const rounds =
      asking &&
      createRounds(this.#rounds, {
        caller,
        capabilities: envelope.capabilities,
        waiting: { signal: ended, notify: tell },
        hold: () => asking.hold(),
      })
    const outcome = await run({
      method: message.method,
      params: message.params,
      signal: ended,
      context: contextOf({
        params: message.params,
        header: header?.(CONTEXT_HEADER) ?? null,
        connection: this.#context,
      }),
      traceparent: header?.('traceparent') ?? null,
      notify: tell,
      ask: () => Promise.resolve(NOT_ASKED),
      ...(rounds === null ? {} : { rounds }),
    })
    isOpen = false
    return outcome
  }

  async #discover(gateway: Gateway): Promise<Outcome> {
    await gateway.ready(READY_MS)
    const instructions = gateway.instructions()
    const head = jsonBytes({
      supportedVersions: MODERN_VERSIONS,
      ...(instructions === null ? {} : { instructions }),
    })
    const result = withMember(head, 'capabilities', gateway.capabilities()) ?? head
    return this.#completed({ kind: 'result', result }, UNCACHED)
  }

  async #listen(request: ModernRequest, pooled: PooledGateway): Promise<Outcome | null> {
    const { message, caller, signal, notify } = request
    const leave = this.#listens.enter(caller)
    if (leave === null) return errorOutcome(RPC_ERRORS.internal, 'too many subscriptions are open')
    try {
      await pooled.gateway.ready(READY_MS)
      const params = message.params ?? EMPTY_OBJECT
      const outcome = await pooled.hub.listen({ id: message.id, params, signal, notify })
      return outcome === null ? null : this.#completed(outcome, null)
    } finally {
      leave()
    }
  }

  /** A task's handle names its server. */
  async #task(request: ModernRequest, envelope: Envelope, pooled: PooledGateway): Promise<Outcome> {
    if (!declaresTasks(envelope.capabilities)) {
      const requiredCapabilities = { extensions: { [TASKS]: {} } }
      const message = `this needs the extension ${TASKS}`
      return errorOutcome(MODERN_ERRORS.missingCapability, message, { requiredCapabilities })
    }
    const params = request.message.params ?? EMPTY_OBJECT
    const handle = textMember(params, 'taskId')
    const task = handle === null ? null : this.#rounds.tasks.read(request.caller, handle)
    const sent = task && withMember(params, 'taskId', task.taskId)
    if (task === null || sent === null) {
      return errorOutcome(RPC_ERRORS.invalidParams, 'Unknown task')
    }
    await pooled.gateway.ready(READY_MS)
    const outcome = await this.#call(request, envelope, null, call =>
      pooled.gateway.forward({ ...call, params: sent }, task.server),
    )
    if (outcome.kind === 'error') return outcome
    const { result } = outcome
    const named =
      member(result, 'taskId') === undefined
        ? result
        : withMember(result, 'taskId', JSON.stringify(handle))
    return this.#completed({ kind: 'result', result: named ?? result }, null)
  }

  #completed(outcome: Outcome, hint: CacheHint | null): Outcome {
    if (outcome.kind === 'error') return outcome
    return { kind: 'result', result: completeResult(outcome.result, this.#info, hint) }
  }
}

const NOT_ASKED = errorOutcome(RPC_ERRORS.methodNotFound, 'nothing can be asked for this request')

/** How long the results of a method may be kept; `null` if they have no such members. */
function hintFor(method: string, gateway: Gateway): CacheHint | null {
  if (method === 'resources/read') return UNCACHED
  const kind = LIST_KINDS.find(each => LISTS[each].method === method)
  return kind === undefined ? null : gateway.hintOf(kind)
}

/** Earlier revisions have a code of their own for a resource that is not there. */
function modernOutcome(
  { method, params }: Pick<RequestMessage, 'method' | 'params'>,
  outcome: Outcome,
): Outcome {
  if (outcome.kind === 'result' || method !== 'resources/read') return outcome
  if (errorCode(outcome) !== LEGACY_NOT_FOUND) return outcome
  const uri = textMember(params ?? EMPTY_OBJECT, 'uri')
  return errorOutcome(RPC_ERRORS.invalidParams, 'Resource not found', { uri })
}

const LEGACY_NOT_FOUND = -32002

async function mirrorFault(
  { message, header }: ModernRequest,
  gateway: Gateway,
): Promise<Outcome | null> {
  if (header === null || message.method !== 'tools/call') return null
  const params = message.params ?? EMPTY_OBJECT
  const definition = await gateway.definitionOf(textMember(params, 'name') ?? '')
  return definition === null ? null : checkMirrors(definition, params, header)
}
