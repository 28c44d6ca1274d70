import type { MessagePart } from './frame-reader.ts'
import { OPCODES } from './frames.ts'
import type { ClientMessage, RewrittenMessage, SocketMessages } from './socket-messages.ts'

/** Where the messages of a client go. */
export interface Destinations {
  /** Sends a frame to the upstream. */
  frame(opcode: number, bytes: Uint8Array, isLast: boolean): void
  /** Gives the client an event of ours. */
  event(bytes: Uint8Array): void
  /** Sends a message once it is rewritten. */
  rewrite(message: Promise<RewrittenMessage>): void
}

/** Takes the messages of a client, part by part, to where they go. */
export class PassingMessages {
  readonly #messages: SocketMessages
  readonly #to: Destinations
  /** The text message that is being read. */
  #message: ClientMessage | null = null
  /** Whether a frame of the message was sent. */
  #isBegun = false
  #isRefused = false

  constructor(messages: SocketMessages, to: Destinations) {
    this.#messages = messages
    this.#to = to
  }

  part({ isText, isFirst, isLast, length, bytes }: MessagePart): void {
    if (isFirst) {
      this.#message = isText ? this.#messages.begin(length) : null
      this.#isBegun = false
      this.#isRefused = false
    }
    if (this.#isRefused) return
    if (this.#message === null) {
      this.#pass(bytes, isText, isLast)
      return
    }
    const taken = this.#message.take(bytes, isLast)
    if (isLast || taken.kind === 'refuse') this.#message = null
    if (taken.kind === 'pass') this.#pass(taken.bytes, isText, isLast)
    else if (taken.kind === 'refuse') {
      this.#isRefused = true
      this.#to.event(taken.event)
    } else if (taken.kind === 'rewrite') this.#to.rewrite(taken.message)
  }

  /** The message that is being read does not come to its end. */
  drop(): void {
    this.#message?.drop()
    this.#message = null
  }

  /** Passes a part of a message as a frame. */
  #pass(bytes: Uint8Array, isText: boolean, isLast: boolean): void {
    if (bytes.length === 0 && !isLast) return
    const kind = isText ? OPCODES.text : OPCODES.binary
    this.#to.frame(this.#isBegun ? OPCODES.continuation : kind, bytes, isLast)
    this.#isBegun = true
  }
}
