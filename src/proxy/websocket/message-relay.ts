import type { Duplex } from 'node:stream'
import type { VendorName } from '../../core/dialects/lookup.ts'
import { type ExchangeOutcome, FAILURES } from '../failures.ts'
import type { Guard } from '../guard.ts'
import type { TunnelEnd } from '../tunnel.ts'
import { errorEvent } from '../vendor-errors.ts'
import { type ControlFrame, FrameReader } from './frame-reader.ts'
import { CLOSE_CODES, OPCODES, writeClose, writeFrame } from './frames.ts'
import { PassingMessages } from './passing-messages.ts'
import { RelayLimits, type RelayTimes } from './relay-limits.ts'
import type { RewrittenMessage, SocketMessages } from './socket-messages.ts'

/** How long both sides have to end the connection after our close frames, in milliseconds. */
const CLOSING_MS = 2_000

/** A code of close frames, and the reason. */
type Close = readonly [number, string]

/** What clients are told. */
const CLOSES = {
  client: [CLOSE_CODES.protocol_error, 'not a frame of a client'],
  upstream: [CLOSE_CODES.internal, 'the upstream broke the protocol'],
  late: [CLOSE_CODES.going_away, 'a time limit was reached'],
  ending: [CLOSE_CODES.going_away, 'the proxy is shutting down'],
} as const satisfies Record<string, Close>

export interface RelayOptions {
  readonly guard: Guard
  readonly vendor: VendorName
  readonly limits: RelayTimes
  readonly messages: SocketMessages
  /** Called once, with the bytes from client to upstream and back. */
  readonly ended: (outcome: ExchangeOutcome, sent: number, received: number) => void
}

/** The two connections of a WebSocket that were joined. */
export interface Relay {
  /** Ends it now. */
  end(): void
  /** Ends it once its responses have ended, or after `ms`. */
  drain(ms: number): void
}

/**
 * Joins the two connections of a WebSocket without extensions. Text messages of the client are
 * given to `messages`. Other messages of the client pass in pieces as they come, in frames of ours.
 * What the upstream sends passes byte for byte. A side that does not read makes the other one wait.
 */
export function joinMessages(client: TunnelEnd, upstream: TunnelEnd, options: RelayOptions): Relay {
  const relay = new MessageRelay(client.stream, upstream.stream, options)
  relay.start(Buffer.from(client.head), Buffer.from(upstream.head))
  return relay
}

class MessageRelay implements Relay {
  readonly #client: Duplex
  readonly #upstream: Duplex
  readonly #options: RelayOptions
  readonly #messages: SocketMessages
  readonly #fromClient = new FrameReader(true)
  readonly #fromUpstream = new FrameReader(false)
  readonly #passing: PassingMessages
  #isRewriting = false
  /** Events for the client that wait for the end of a message of the upstream. */
  #events: Buffer[] = []
  /** What the upstream's messages wait for. */
  #holds = 0
  #isDraining = false
  /** One side has sent its close frame, or the end of its bytes. */
  #isEnding = false
  /** Nothing passes any more. */
  #isOver = false
  #outcome: ExchangeOutcome = 'answered'
  #open = 2
  #sent = 0
  #received = 0
  readonly #limits: RelayLimits
  #deadline: NodeJS.Timeout | undefined

  constructor(client: Duplex, upstream: Duplex, options: RelayOptions) {
    this.#client = client
    this.#upstream = upstream
    this.#options = options
    this.#messages = options.messages
    this.#passing = new PassingMessages(options.messages, {
      frame: this.#toUpstream.bind(this),
      event: this.#tellClient.bind(this),
      rewrite: this.#await.bind(this),
    })
    const late = options.guard.wrap(() => this.#late())
    this.#limits = new RelayLimits(options.limits, late)
  }

  /** @param heads what was read on each connection before */
  start(...heads: [Buffer, Buffer]): void {
    const { guard } = this.#options
    const sides = [
      [this.#client, this.#upstream, 'aborted', this.#takeFromClient],
      [this.#upstream, this.#client, 'broken', this.#takeFromUpstream],
    ] as const
    for (const [from, to, failed, take] of sides) {
      guard.on(from, 'data', (chunk: Buffer) => take.call(this, chunk))
      guard.on(from, 'end', () => {
        this.#ending()
        to.end()
      })
      guard.on(from, 'error', () => this.#abort(failed))
      guard.on(from, 'close', () => this.#closed(from))
    }
    guard.on(this.#client, 'drain', () => this.#resumeUpstream())
    guard.on(this.#upstream, 'drain', () => this.#advance())
    this.#watch()
    this.#takeFromClient(heads[0])
    this.#takeFromUpstream(heads[1])
  }

  end(): void {
    this.#close('closed', CLOSES.ending)
  }

  drain(ms: number): void {
    const { guard } = this.#options
    guard.wrap(() => {
      if (this.#isOver) return
      this.#isDraining = true
      this.#messages.drain()
      const end = guard.wrap(() => this.end())
      this.#deadline = setTimeout(end, ms)
      this.#endIfDrained()
    })()
  }

  #takeFromClient(chunk: Buffer): void {
    this.#sent += chunk.length
    if (this.#isOver) return
    this.#fromClient.feed(chunk)
    this.#advance()
  }

  /** Reads on in the client's chunk, until the upstream or a rewrite must be waited for. */
  #advance(): void {
    while (!this.#isOver && !this.#isRewriting) {
      if (this.#upstream.writableNeedDrain) return void this.#client.pause()
      const next = this.#fromClient.next()
      if (next === null) return void this.#client.resume()
      if (next.kind === 'control') this.#control(next)
      else if (next.kind === 'part') {
        this.#passing.part(next)
        this.#watch()
      } else this.#close('aborted', CLOSES.client)
    }
    if (this.#isRewriting) this.#client.pause()
  }

  #control({ opcode, bytes }: ControlFrame): void {
    this.#toUpstream(opcode, bytes, true)
    if (opcode === OPCODES.close) this.#ending()
    // Pongs do not show that an answer is on its way.
    else if (this.#messages.pending === 0) this.#watch()
  }

  /** Sends a message once it is rewritten. Meanwhile nothing is read of the client. */
  #await(message: Promise<RewrittenMessage>): void {
    const { guard } = this.#options
    this.#isRewriting = true
    const rewritten = guard.wrap(({ bytes, recorded, done }: RewrittenMessage) => {
      this.#isRewriting = false
      done(!this.#isOver)
      if (this.#isOver) return
      if (recorded !== undefined) this.#holdUpstream(recorded)
      this.#toUpstream(OPCODES.text, bytes, true)
      this.#watch()
      this.#advance()
    })
    const failed = guard.wrap((error: unknown) => {
      throw error
    })
    message.then(rewritten, failed)
  }

  #toUpstream(opcode: number, bytes: Uint8Array, isLast: boolean): void {
    if (this.#upstream.writable) {
      this.#upstream.write(writeFrame(opcode, bytes, { isMasked: true, isLast }))
    }
  }

  #holdUpstream(until: Promise<unknown>): void {
    this.#holds += 1
    this.#upstream.pause()
    const release = this.#options.guard.wrap(() => {
      this.#holds -= 1
      this.#resumeUpstream()
    })
    until.then(release, release)
  }

  #resumeUpstream(): void {
    if (this.#isOver || (this.#holds === 0 && !this.#client.writableNeedDrain)) {
      this.#upstream.resume()
    }
  }

  #takeFromUpstream(chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#isOver) return
    const reader = this.#fromUpstream
    reader.feed(chunk)
    let passed = 0
    const passUpTo = (end: number) => {
      if (end > passed) this.#toClient(chunk.subarray(passed, end))
      passed = Math.max(passed, end)
    }
    // Pings do not show that an answer is on its way.
    let hasMoved = this.#messages.pending === 0
    for (let next = reader.next(); next !== null; next = reader.next()) {
      if (next.kind === 'violation') {
        passUpTo(reader.frameStart)
        this.#close('broken', CLOSES.upstream, reader.frameStart >= 0)
        return
      }
      if (next.kind === 'control') {
        if (next.opcode === OPCODES.close) this.#ending()
        continue
      }
      hasMoved = true
      if (next.isText) this.#messages.answered(next.bytes, next.isLast)
      if (this.#events.length > 0 && reader.isBetweenMessages) {
        passUpTo(reader.offset)
        this.#tellEvents()
      }
    }
    passUpTo(chunk.length)
    if (hasMoved) this.#watch()
    this.#endIfDrained()
  }

  #toClient(bytes: Uint8Array): void {
    if (this.#client.writable && !this.#client.write(bytes)) this.#upstream.pause()
  }

  /** Gives the client an event of ours, between two messages of the upstream. */
  #tellClient(event: Uint8Array): void {
    this.#events.push(writeFrame(OPCODES.text, event))
    if (this.#fromUpstream.isBetweenMessages) this.#tellEvents()
  }

  #tellEvents(): void {
    for (const event of this.#events.splice(0)) this.#toClient(event)
  }

  #endIfDrained(): void {
    const isIdle = this.#messages.pending === 0 && !this.#isRewriting
    if (this.#isDraining && isIdle && this.#fromUpstream.isBetweenMessages) this.end()
  }

  #ending(): void {
    this.#isEnding = true
    this.#watch()
  }

  #watch(): void {
    this.#limits.watch(this.#messages, this.#isEnding)
  }

  #late(): void {
    const isAwaited = this.#messages.pending > 0
    if (this.#isOver) this.#abort('timed_out')
    else if (isAwaited && this.#fromUpstream.isBetweenMessages) {
      this.#tellClient(errorEvent(this.#options.vendor, FAILURES.timeout))
    }
    this.#close('timed_out', CLOSES.late)
  }

  /**
   * Ends both sides, with a close frame between two frames.
   * @param why for the client
   * @param isWhole whether the client got whole frames so far
   */
  #close(
    outcome: ExchangeOutcome,
    why: Close,
    isWhole: boolean = this.#fromUpstream.isBetweenFrames,
  ): void {
    if (this.#isOver) return
    this.#over(outcome)
    if (isWhole) this.#toClient(writeClose(...why, false))
    if (this.#upstream.writable) {
      this.#upstream.write(writeClose(CLOSE_CODES.going_away, '', true))
    }
    for (const side of [this.#client, this.#upstream]) {
      side.end()
      // What comes is dropped, so that the end is seen.
      side.resume()
    }
    this.#limits.lastly(CLOSING_MS)
  }

  /** Ends both sides at once. */
  #abort(outcome: ExchangeOutcome): void {
    this.#over(outcome)
    this.#client.destroy()
    this.#upstream.destroy()
  }

  #over(outcome: ExchangeOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#open === 2) this.#outcome = outcome
    this.#passing.drop()
    clearTimeout(this.#deadline)
    this.#messages.end()
  }

  /** One side is closed: the other one gets what was sent to it, and is closed too. */
  #closed(side: Duplex): void {
    this.#open -= 1
    this.#over(this.#outcome)
    const isClient = side === this.#client
    const other = isClient ? this.#upstream : this.#client
    if (this.#open === 0) {
      this.#limits.close()
      this.#options.ended(this.#outcome, this.#sent, this.#received)
      return
    }
    // A client may take its time to read what the upstream sent.
    this.#limits.lastly(isClient ? CLOSING_MS : this.#options.limits.idle_ms)
    if (isClient) other.end(() => other.destroy())
    else other.end()
    other.resume()
  }
}
