import { GrownBytes } from '../../core/base/grown-bytes.ts'
import {
  FIN,
  KEY_BYTES,
  LENGTH_16,
  LENGTH_64,
  MASKED,
  MAX_CONTROL_BYTES,
  mask,
  OPCODES,
  RESERVED,
} from './frames.ts'

/** A part of a message; a message without content has one empty part. */
export interface MessagePart {
  readonly kind: 'part'
  readonly isText: boolean
  readonly isFirst: boolean
  readonly isLast: boolean
  /** The length of the whole message in bytes, if its first frame says so. */
  readonly length: number | null
  readonly bytes: Buffer
}

export interface ControlFrame {
  readonly kind: 'control'
  readonly opcode: number
  readonly bytes: Buffer
}

/** What no frame may be (RFC 6455 §5). Nothing after it can be read. */
export interface Violation {
  readonly kind: 'violation'
}

const VIOLATION: Violation = { kind: 'violation' }
const NOTHING = Buffer.alloc(0)
const MAX_HEAD_BYTES = 14

/**
 * Reads the frames of one direction of a WebSocket, in chunks that are cut anywhere. It keeps
 * nothing of a message but the head of its frame. A control frame is kept until it is complete.
 */
export class FrameReader {
  readonly #isMasked: boolean
  #chunk: Buffer = NOTHING
  #at = 0
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES)
  #headLength = 0
  /** Bytes left of the payload of the frame that is being read; -1: a head comes next. */
  #left = -1
  #length = 0
  #first = 0
  readonly #key = Buffer.alloc(KEY_BYTES)
  /** The kind of the message that is being read; 0: none. */
  #message = 0
  #isFirst = true
  readonly #control = new GrownBytes(MAX_CONTROL_BYTES)
  #frameStart = 0
  #isBroken = false

  /** @param isMasked whether frames must be masked, as those of a client */
  constructor(isMasked: boolean) {
    this.#isMasked = isMasked
  }

  /** Gives the next chunk, after `next` returned `null`. Its bytes are unmasked in place. */
  feed(chunk: Buffer): void {
    this.#frameStart -= this.#chunk.length
    this.#chunk = chunk
    this.#at = 0
  }

  /** What comes next; `null` if that needs another chunk. */
  next(): MessagePart | ControlFrame | Violation | null {
    if (this.#isBroken) return null
    if (this.#left < 0) {
      if (!this.#readHead()) return null
      if (!this.#begin()) {
        this.#isBroken = true
        return VIOLATION
      }
    }
    const taken = Math.min(this.#left, this.#chunk.length - this.#at)
    if (taken === 0 && this.#left > 0) return null
    const bytes = this.#chunk.subarray(this.#at, this.#at + taken)
    if (this.#isMasked) mask(bytes, this.#key, this.#length - this.#left)
    this.#at += taken
    this.#left -= taken
    return this.#isControl ? this.#endControl(bytes) : this.#part(bytes)
  }

  /** How much of the chunk was read. */
  get offset(): number {
    return this.#at
  }

  /** Where the last frame that was begun starts in the chunk; negative: in an earlier one. */
  get frameStart(): number {
    return this.#frameStart
  }

  /** Whether the last frame that was begun is complete. */
  get isBetweenFrames(): boolean {
    return this.#left < 0 && this.#headLength === 0
  }

  /** Whether no message is being read. */
  get isBetweenMessages(): boolean {
    return this.isBetweenFrames && this.#message === 0
  }

  /** Reads the head of a frame as far as it is there. Returns whether it is complete. */
  #readHead(): boolean {
    if (this.#headLength === 0) this.#frameStart = this.#at
    while (this.#headLength < this.#neededHead()) {
      if (this.#at === this.#chunk.length) return false
      this.#head[this.#headLength++] = this.#chunk[this.#at++] as number
    }
    return true
  }

  #neededHead(): number {
    if (this.#headLength < 2) return 2
    const second = this.#head[1] as number
    const length = second & ~MASKED
    const more = length === LENGTH_64 ? 8 : length === LENGTH_16 ? 2 : 0
    return 2 + more + ((second & MASKED) === 0 ? 0 : KEY_BYTES)
  }

  /** Begins the frame whose head was read. Returns whether it may be there. */
  #begin(): boolean {
    const end = this.#headLength
    this.#headLength = 0
    const [first = 0, second = 0] = this.#head
    this.#first = first
    const length = second & ~MASKED
    if ((first & RESERVED) !== 0 || ((second & MASKED) !== 0) !== this.#isMasked) return false
    if (length === LENGTH_64) {
      const long = this.#head.readBigUInt64BE(2)
      if (long > BigInt(Number.MAX_SAFE_INTEGER)) return false
      this.#length = Number(long)
    } else this.#length = length === LENGTH_16 ? this.#head.readUInt16BE(2) : length
    this.#left = this.#length
    if (this.#isMasked) this.#head.copy(this.#key, 0, end - KEY_BYTES, end)
    return this.#isControl ? this.#mayBeControl : this.#beginData()
  }

  get #opcode(): number {
    return this.#first & 0x0f
  }

  get #isLastFrame(): boolean {
    return (this.#first & FIN) !== 0
  }

  get #isControl(): boolean {
    return this.#opcode >= OPCODES.close
  }

  get #mayBeControl(): boolean {
    // A close frame has a code of two bytes, or nothing.
    if (this.#opcode === OPCODES.close && this.#length === 1) return false
    return this.#opcode <= OPCODES.pong && this.#isLastFrame && this.#length <= MAX_CONTROL_BYTES
  }

  #beginData(): boolean {
    const opcode = this.#opcode
    if (opcode === OPCODES.continuation) return this.#message !== 0
    if (opcode > OPCODES.binary || this.#message !== 0) return false
    this.#message = opcode
    this.#isFirst = true
    return true
  }

  /** A part of the message; its last one may be of several frames. */
  #part(bytes: Buffer): MessagePart {
    const isFirst = this.#isFirst
    const isEnd = this.#left === 0
    const isLast = isEnd && this.#isLastFrame
    const part: MessagePart = {
      kind: 'part',
      isText: this.#message === OPCODES.text,
      isFirst,
      isLast,
      length: isFirst && this.#isLastFrame ? this.#length : null,
      bytes,
    }
    this.#isFirst = false
    if (isEnd) this.#left = -1
    if (isLast) this.#message = 0
    return part
  }

  #endControl(bytes: Buffer): ControlFrame | null {
    // Copied, as the chunk is not kept.
    if (this.#left > 0 || this.#control.length > 0) this.#control.add(bytes)
    if (this.#left > 0) return null
    this.#left = -1
    const whole = this.#control.length === 0 ? bytes : this.#control.take()
    return { kind: 'control', opcode: this.#opcode, bytes: whole }
  }
}
