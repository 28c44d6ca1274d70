import type { Hono } from 'hono'
import type { RefusedRequest } from '../../book/bill/answered-request.ts'
import { contentCodingOf } from '../../core/base/content-coding.ts'
import { AppError } from '../../core/base/errors.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { billingVendor } from '../../core/conversation/usage/billing.ts'
import type { RouteName, VendorName } from '../../core/dialects/lookup.ts'
import type { Logger } from '../../observability/logger.ts'
import type { AnswerRounds } from '../../proxy/answer-rounds.ts'
import type { Exchange } from '../../proxy/exchange.ts'
import type { RawHeaders } from '../../proxy/headers.ts'
import type { SeenAnswer } from '../../proxy/usage-observer.ts'
import type { SocketMessages } from '../../proxy/websocket/socket-messages.ts'
import type { Originals, ReadableOriginals } from '../../store/originals.ts'
import type { AppContext, AppDeps, AppEnv } from '../context.ts'
import { authorize } from '../middleware/authorize.ts'
import { seesExactTimes } from '../middleware/observe.ts'
import { CachePings, unheldTimer } from '../proxy/cache-pings.ts'
import { withForwarded } from '../proxy/forwarded-request.ts'
import { KeptBodies } from '../proxy/kept-bodies.ts'
import { createPlacing, type Placing } from '../proxy/placed-rounds.ts'
import { endPings, planPings } from '../proxy/plan-pings.ts'
import { createPromptWarnings } from '../proxy/prompt-warnings.ts'
import { createResponsesSocket } from '../proxy/responses-socket.ts'
import { billedAs, wantsWebSocketConversation } from '../proxy/rewritable-request.ts'
import { type ForwardedBody, type RewriteNeeds, rewriteBody } from '../proxy/rewrite-body.ts'
import { UsageOfRounds } from '../proxy/usage-of-rounds.ts'
import { type VendorProxy, vendorProxyFor } from '../proxy/vendor-proxies.ts'
import { sessionTerm } from '../request/agent-session.ts'
import { originOf } from '../request/origin-of.ts'
import { requestHeader } from '../request/request-header.ts'
import { isBypassed } from '../request/request-terms.ts'
import { alreadySent } from '../response/already-sent.ts'

interface ProxyNeeds
  extends Omit<RewriteNeeds, 'warnings' | 'placing' | 'savings'>,
    Pick<AppDeps, 'access' | 'health' | 'savings' | 'vendorProxies' | 'observeUsage'> {
  readonly originals: Pick<Originals, 'keep' | 'renew'> & ReadableOriginals
  readonly logger: Pick<Logger, 'error' | 'warn'>
}

type ForwardNeeds = ProxyNeeds &
  Omit<RewriteNeeds, 'savings'> & {
    readonly kept: KeptBodies
    readonly placing: Placing
    readonly pings: CachePings
  }

/** Levers that an upstream may refuse. */
const REFUSABLE: ReadonlySet<string> = new Set(['place', 'life', 'retention', 'defer'])

/** On each answer of our proxies: how long it took beside the upstream's time. */
const ADDED_HEADER = 'x-haversack-added-ms'

/** The status of an answer that makes a WebSocket of its connection. */
const SWITCHED = 101

/** Forwards every path and method below the prefixes of the configured vendors. */
export function mountVendorProxies(app: Hono<AppEnv>, needs: ProxyNeeds): void {
  const warnings = createPromptWarnings(needs.logger)
  const placing = createPlacing(needs.logger)
  const pings = new CachePings({
    now: () => Date.now(),
    after: unheldTimer,
    isEnding: () => needs.health.state !== 'ready',
  })
  const all: ForwardNeeds = { ...needs, warnings, placing, pings, kept: new KeptBodies() }
  for (const proxy of needs.vendorProxies ?? []) {
    const paths = `${proxy.pattern}/*`
    app.all(paths, authorize(needs.access, 'proxy'), c => forward(c, proxy, all))
  }
}

async function forward(c: AppContext, proxy: VendorProxy, needs: ForwardNeeds): Promise<Response> {
  const { incoming } = c.env
  // The path as it was sent; in the app's own path dot segments are resolved.
  const path = vendorProxyFor([proxy], incoming?.url)?.path
  if (incoming === undefined || path === undefined) throw new AppError('not_found', 'no such route')
  const upstreamPath = proxy.basePath + path
  const messages = socketMessages(c, { proxy, path: upstreamPath }, needs)
  const billed = billedAs(c, upstreamPath)
  const usage = billed && new UsageOfRounds(() => needs.observeUsage(billed.shape))
  // The result is taken apart at once, so that the code that waits for the answer does not hold the
  // body.
  const { exchange, untouched, pings, kept, ...sent } = await send(
    c,
    { proxy, path, usage, messages, shape: billed?.shape },
    await rewriteBody(c, proxy, upstreamPath, needs),
    needs,
  )
  const ended = await exchange
  const report = sent.isOwn() ? sent.report && asOwn(sent.report) : sent.report
  note(c, ended, { vendor: proxy.vendor, report, model: billed?.model }, needs)
  const refused = refusedAs(ended, proxy)
  if (billed !== null && usage !== null) {
    const vendor = billingVendor(proxy.vendor, billed.shape, billed.model)
    const { last, hidden } = usage.finish()
    const named = (answer: SeenAnswer) => withModel(answer, billed.model)
    const begunMs = ended.first_byte_ms ?? undefined
    const seen = last.then(named)
    const { isOurs: isPassedOn } = proxy.upstream
    const of = { vendor, report, isPassedOn, refused }
    account(c, { ...of, untouched, pings, seen, begunMs }, needs.savings)
    if (ended.outcome === 'answered') {
      const observe = () => needs.observeUsage(billed.shape)
      void planPings(
        c,
        { proxy, path, body: sent.isOwn() ? undefined : kept, report, seen },
        { ...needs, observe },
      )
    }
    for (const each of hidden) {
      const seen = each.then(named)
      account(c, { ...of, isHidden: true, seen }, needs.savings)
    }
  } else if (messages !== undefined && ended.status !== SWITCHED) {
    needs.savings.noteRefused(refused)
  }
  return alreadySent()
}

/**
 * What reads the messages of a request for a WebSocket; `undefined` if its bytes pass.
 * @throws AppError `overloaded` if the service is draining
 */
function socketMessages(
  c: AppContext,
  { proxy, path }: Pick<Destination, 'proxy' | 'path'>,
  { rewriting, ...needs }: ForwardNeeds,
): SocketMessages | undefined {
  if (c.env.upgradeHead === undefined || !wantsWebSocketConversation(c, path)) return undefined
  const isRewritten = rewriting?.isOn(c.get('state').caller.tenant) === true && !isBypassed(c)
  if (!isRewritten) return undefined
  if (c.get('state').last) {
    throw new AppError('overloaded', 'the service is shutting down', { retry_after_s: 1 })
  }
  return createResponsesSocket(c, proxy, { ...needs, rewriting })
}

/** Where a request goes, and who reads what its answer used. */
interface Destination {
  readonly proxy: VendorProxy
  readonly path: string
  readonly usage: UsageOfRounds | null
  /** The shape of a request that the vendor bills. */
  readonly shape: RouteName | undefined
  readonly messages: SocketMessages | undefined
}

/** A request on its way, and what was done to it. */
interface Sent {
  readonly exchange: Promise<Exchange>
  readonly report: RewriteReport | undefined
  /** Whether the client's own body was sent in the end, since its upstream refused the other. */
  isOwn(): boolean
  readonly untouched: string | undefined
  /** How often its cache was kept alive since the request before. */
  readonly pings: number
  /** The body, if its cache is to be kept alive. */
  readonly kept: Uint8Array | undefined
}

async function send(
  c: AppContext,
  { proxy: { forwarder, host, upstream }, path, usage, messages, shape }: Destination,
  { body, own, ticket, readingMs, continued, paused, recorded, free, ...rest }: ForwardedBody,
  needs: ForwardNeeds,
): Promise<Sent> {
  const { incoming, outgoing, upgradeHead } = c.env
  const { report, untouched, sign } = rest
  const state = c.get('state')
  const addedMs = performance.now() - state.started - readingMs
  const decimals = seesExactTimes(state) ? 3 : 0
  const extraHeaders = { [ADDED_HEADER]: addedMs.toFixed(decimals) }
  if (upgradeHead !== undefined) {
    const options = { path, extraHeaders, ...(messages === undefined ? {} : { messages }) }
    const exchange = forwarder.upgrade(incoming!, upgradeHead, options)
    return { exchange, report, isOwn: () => false, untouched, pings: 0, kept: undefined }
  }
  if (state.last) outgoing!.shouldKeepAlive = false
  const pings = endPings(c, report, needs.pings)
  const kept = report?.ping === undefined ? undefined : body
  const answering = await answerCalls(c, { shape, report, body }, needs)
  const { levers = [] } = report ?? {}
  const isPlaced = levers.some(lever => REFUSABLE.has(lever)) && body !== undefined
  const onToolsRefused = () => {
    const kind = report?.print?.kind
    if (kind !== undefined) needs.savings.noteRefusedTools(state.caller.tenant, kind)
  }
  const inner = answering?.rounds
  const placed = isPlaced
    ? needs.placing.rounds(host, { body, own, onToolsRefused }, inner)
    : undefined
  const rounds = placed ?? inner
  const exchange = forwarder.forward(incoming!, outgoing!, {
    path,
    extraHeaders,
    awaitsContinue: c.env.awaitsContinue === true && !continued,
    ...(body === undefined ? {} : { body }),
    ...(recorded === undefined ? {} : { holdEnd: recorded }),
    ...(sign === undefined ? {} : { sign }),
    ...(rounds === undefined ? {} : { rounds }),
    // Another round sends it again, and more.
    ...(free === undefined || rounds || kept
      ? {}
      : { onBodySent: () => void recorded?.then(free) }),
    onAnswer: {
      head(status, headers) {
        // Once an answer has begun, the body is not needed any more.
        ticket?.leave()
        upstream.isOurs = upstream.isBelieved && isAdded(headers)
        usage?.head(status, headers)
      },
      chunk: bytes => usage?.chunk(bytes),
    },
  })
  if (paused) incoming!.resume()
  const ended = exchange.finally(() => {
    ticket?.leave()
    answering?.release()
    if (free !== undefined && rounds && !kept) void recorded?.then(free)
  })
  return { exchange: ended, report, isOwn: () => placed?.isOwn === true, untouched, pings, kept }
}

/** The report of a request whose client's own body was sent in the end. */
function asOwn({ levers: _, saved: _saved, definitions: _own, ...report }: RewriteReport) {
  return report
}

function isAdded(headers: RawHeaders): boolean {
  return headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === ADDED_HEADER)
}

interface CallingRequest {
  readonly shape: RouteName | undefined
  readonly report: RewriteReport | undefined
  /** As it is sent. */
  readonly body: Uint8Array | undefined
}

/** How calls of our own tool are answered; `null` if the request does not have it. */
async function answerCalls(
  c: AppContext,
  { shape, report, body }: CallingRequest,
  { pool, rewriting, originals, logger, kept }: ForwardNeeds,
): Promise<{ readonly rounds: AnswerRounds; release(): void } | null> {
  if (report?.redeeming === undefined || !body || !rewriting || shape === undefined) return null
  // Most requests, and the start of the service, do without what writes answers.
  const { answerRetrieveCalls } = await import('../proxy/retrieve-calls.ts')
  const { tenant } = c.get('state').caller
  const coding = contentCodingOf(requestHeader(c, 'content-encoding') ?? '')
  const bytes = body.length
  const isKept = kept.claim(bytes)
  const release = () => {
    if (isKept) kept.release(bytes)
  }
  const calls = { tenant, shape, report, body, coding, isKept }
  const rounds = answerRetrieveCalls(calls, { pool, rewriting, originals, logger })
  if (rounds === undefined) release()
  return rounds === undefined ? null : { rounds, release }
}

/** The model of the path, if the answer names none. */
function withModel(seen: SeenAnswer, model: string | undefined): SeenAnswer {
  const { said } = seen
  return said === null ? seen : { ...seen, said: { ...said, model: said.model ?? model } }
}

interface ToAccount extends Partial<Pick<Sent, 'report' | 'untouched' | 'pings'>> {
  /** It is a round that the client knows nothing of. */
  readonly isHidden?: true
  readonly vendor: VendorName
  readonly isPassedOn: boolean
  readonly seen: Promise<SeenAnswer>
  /** What it is if the vendor did not answer it. */
  readonly refused: RefusedRequest
  /** See `AnsweredRequest`. */
  readonly begunMs?: number | undefined
}

/** Accounts for an answer, once all that was seen of it is read. */
function account(
  c: AppContext,
  { isHidden, seen, refused, ...of }: ToAccount,
  savings: ProxyNeeds['savings'],
): void {
  const { session } = sessionTerm(c)
  const { tenant, keyId: key } = c.get('state').caller
  const from = { session, key, origin: originOf(c) }
  const hidden = isHidden && { isHidden }
  const answered = seen.then(({ isGiven, said }) => {
    if (isGiven) return { ...of, ...from, said, ...hidden }
    if (isHidden !== true) savings.noteRefused(refused)
    return null
  })
  void savings.record(tenant, answered)
}

/** What a request is that its vendor did not answer. */
function refusedAs({ status, error, outcome }: Exchange, { host }: VendorProxy): RefusedRequest {
  return { host, status, error: outcome === 'aborted' ? outcome : error }
}

interface Noted extends Pick<Sent, 'report'> {
  readonly vendor: VendorName
  /** The one that the path names. */
  readonly model: string | undefined
}

/** Reports an exchange to operators, without its content. */
function note(
  c: AppContext,
  exchange: Exchange,
  { vendor, report, model }: Noted,
  { metrics, logger }: Pick<ProxyNeeds, 'metrics' | 'logger'>,
): void {
  const state = c.get('state')
  const { outcome, status, sent_bytes, received_bytes, error } = exchange
  // The headers have been sent already, so none of ours are added.
  state.sent = true
  state.status = status
  state.bodyBytes = sent_bytes
  state.answerBytes = received_bytes
  const answered = exchange.first_byte_ms === null ? undefined : (status ?? undefined)
  const forwarded = withForwarded(state.forwarded, report, model)
  state.forwarded = { ...forwarded, upstreamStatus: answered }
  metrics.proxy.exchange(vendor, outcome)
  if (error === null) return
  logger.warn({ requestId: state.requestId, vendor, outcome, error }, 'an exchange failed')
}
