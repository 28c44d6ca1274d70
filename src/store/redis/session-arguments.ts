/**
 * The numbers of a session's calls, packed as `library/sessions.lua` reads them: one argument takes
 * less time than ten, in this process and in Redis. They are little-endian.
 */

/** So many bytes of a call's name tell apart the calls that a session knows. */
const CALL_BYTES = 8
/** Bytes that name a process in its changes. */
export const WRITER_BYTES = 6
/** More than any head takes. */
const MOST_HEAD_BYTES = 512

/** What every change has. */
export interface AppendNumbers {
  /** 0: the present one. */
  readonly epoch: number
  readonly ttlMs: number
  /** Bytes that the tenant may have. */
  readonly share: number
  readonly tombstoneMs: number
}

/** What a process knows of the others when it counts a turn. */
interface Knowledge {
  /** For how long no turn can have been missed. */
  readonly sureMs: number
  /** How long a process may be silent; -1: that is not known. */
  readonly silentMs: number
  /** What the process calls the server. */
  readonly fence: string
}

export interface OpenNumbers extends AppendNumbers, Knowledge {
  /** The last change of `epoch` that the process has; 0: none. */
  readonly applied: number
  /** The epoch of a session that begins now. */
  readonly newEpoch: number
  /** Bytes of texts that are wanted at most. */
  readonly openBytes: number
  /** The process, in hex digits. */
  readonly writer: string
  /** The call of each result, in hex digits; empty: it has no name. */
  readonly calls: readonly string[]
}

export interface SettleNumbers extends AppendNumbers, Knowledge {
  /** Results and the last change that the process knows. */
  readonly results: number
  readonly last: number
  readonly call: string
}

export function packOpen(open: OpenNumbers): Buffer {
  const packed = new PackedNumbers(open.calls.length * CALL_BYTES)
  packed.u32(open.epoch).u16(open.applied).u32(open.newEpoch)
  packed.f64(open.ttlMs).f64(open.sureMs).f64(open.share).f64(open.tombstoneMs)
  packed.f64(open.silentMs).f64(open.openBytes)
  packed.hex(open.writer, WRITER_BYTES).text(open.fence).u16(open.calls.length)
  for (const call of open.calls) packed.hex(call, CALL_BYTES)
  return packed.bytes
}

export function packAppend({ epoch, ttlMs, share, tombstoneMs }: AppendNumbers): Buffer {
  return new PackedNumbers().u32(epoch).f64(ttlMs).f64(share).f64(tombstoneMs).bytes
}

export function packSettle(settle: SettleNumbers): Buffer {
  const { epoch, ttlMs, share, tombstoneMs, results, last, sureMs, silentMs } = settle
  const packed = new PackedNumbers().u32(epoch).f64(ttlMs).f64(share).f64(tombstoneMs)
  packed.u32(results).u16(last).f64(sureMs).f64(silentMs)
  return packed.hex(settle.call, CALL_BYTES).text(settle.fence).bytes
}

class PackedNumbers {
  readonly #buffer: Buffer
  #at = 0

  constructor(moreBytes = 0) {
    this.#buffer = Buffer.allocUnsafe(MOST_HEAD_BYTES + moreBytes)
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at)
  }

  u16(value: number): this {
    this.#at = this.#buffer.writeUInt16LE(value, this.#at)
    return this
  }

  u32(value: number): this {
    this.#at = this.#buffer.writeUInt32LE(value, this.#at)
    return this
  }

  f64(value: number): this {
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
    return this
  }

  /** The first bytes of some hex digits, with zeros if there are fewer. */
  hex(digits: string, bytes: number): this {
    this.#buffer.fill(0, this.#at, this.#at + bytes)
    this.#buffer.write(digits.slice(0, 2 * bytes), this.#at, 'hex')
    this.#at += bytes
    return this
  }

  /** A text of up to 255 bytes, after its length. */
  text(text: string): this {
    const written = this.#buffer.write(text, this.#at + 1, 'latin1')
    this.#buffer[this.#at] = written
    this.#at += 1 + written
    return this
  }
}
