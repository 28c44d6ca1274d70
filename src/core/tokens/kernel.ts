/**
 * The compiled inner loop and its memory. Source: `scripts/build-kernel/count-pieces.as`.
 * TypeScript does the same work at half the speed: 64-bit loads need no masks in four parts, and
 * the speed does not depend on V8's feedback. Rare work stays in TypeScript, which the kernel
 * calls.
 *
 * | address | holds |
 * |---|---|
 * | 0 | the encoding's automaton, a byte for each (state, byte) |
 * | 0x2000 | 16 masks of 16 bytes: the first n bytes of a piece's words |
 * | 0x2200 | pieces counted so far, i32 |
 * | 0x10000 | short tokens of the vocabulary, 2^17 slots of 16 bytes, filled once |
 * | 0x210000 | pieces that were seen: a table of 2^13 slots for each of 8 owners |
 * | 0x310000 | the text, UTF-8, and 16 readable bytes after it |
 */
import { asciiAutomaton } from './ascii-automaton.ts'
import { KERNEL_BASE64 } from './kernel-bytes.ts'
import type { Encoding } from './profiles.ts'

const AT_MASKS = 0x2000
const AT_PIECES = 0x2200
const AT_TOKENS = 0x10000
const AT_SEEN = 0x210000
const SEEN_BYTES = 0x80000
/** Owners whose pieces are kept apart. */
export const OWNERS = 8
/** Start of the text. */
export const AT_TEXT = 0x610000
/** Readable bytes past the text: the kernel reads a piece's words whole. */
const PADDING_BYTES = 16
/** Longest piece that the kernel caches. */
export const SHORT_BYTES = 15

/** The part of WebAssembly that is used; types for Node declare it only along with the DOM. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => WasmMemory
  readonly Module: new (bytes: Uint8Array) => WasmModule
  readonly Instance: new (
    module: WasmModule,
    imports: object,
  ) => { readonly exports: Readonly<Record<string, unknown>> }
}
type WasmModule = object
interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

const PAGE_BYTES = 1 << 16

/** Functions that the kernel calls; positions are addresses in its memory. */
export interface KernelHost {
  /** End of the piece at `start`, which holds bytes beyond ASCII. */
  pieceEnd(start: number): number
  /** Tokens of a short piece that the kernel does not know, or of any longer one. */
  countPiece(start: number, end: number): number
}

export interface Kernel {
  /** Views of the memory; new ones after `reserve`. */
  readonly bytes: Uint8Array
  readonly view: DataView
  /** Pieces counted since the kernel was made. */
  pieces(): number
  /** Makes room for this many bytes of text. Views from before are dead. */
  reserve(textBytes: number): void
  /**
   * From now on the kernel uses the pieces of one owner, from 0 to below `OWNERS`. An owner that
   * comes again finds its earlier pieces.
   */
  serve(owner: number): void
  /** Forgets the pieces that were seen of an owner. */
  forget(owner: number): void
  /**
   * Tokens between two addresses. `bytes[end]` must be SENTINEL. Counts on only until the sum is
   * above `limit`, which must fit 32 bits.
   */
  countBlock(start: number, end: number, limit: number): number
}

type CountBlock = (start: number, end: number, limit: number, seen: number) => number

/**
 * A kernel with a memory of its own, with room for `textBytes` of text.
 * @param shortTokens as `writeShortTokens` makes them; without them each piece is asked of the host
 * once
 */
export function createKernel(
  encoding: Encoding,
  textBytes: number,
  host: KernelHost,
  shortTokens?: Uint8Array,
): Kernel {
  const memory = new WebAssembly.Memory({ initial: pagesFor(textBytes) })
  let bytes = new Uint8Array(memory.buffer)
  let view = new DataView(memory.buffer)
  bytes.set(asciiAutomaton(encoding), 0)
  writeMasks(bytes)
  if (shortTokens !== undefined) bytes.set(shortTokens, AT_TOKENS)
  const { exports } = instantiate(memory, host)
  const count = exports['countBlock'] as CountBlock
  let seen = AT_SEEN
  return {
    get bytes() {
      return bytes
    },
    get view() {
      return view
    },
    pieces: () => view.getInt32(AT_PIECES, true),
    serve(owner) {
      seen = AT_SEEN + owner * SEEN_BYTES
    },
    forget(owner) {
      bytes.fill(0, AT_SEEN + owner * SEEN_BYTES, AT_SEEN + (owner + 1) * SEEN_BYTES)
    },
    reserve(needed) {
      const missing = pagesFor(needed) - memory.buffer.byteLength / PAGE_BYTES
      if (missing <= 0) return
      memory.grow(missing)
      bytes = new Uint8Array(memory.buffer)
      view = new DataView(memory.buffer)
    },
    countBlock: (start, end, limit) => count(start, end, limit, seen),
  }
}

/** Bytes of the table of short tokens. */
export const SHORT_TOKENS_BYTES = AT_SEEN - AT_TOKENS

/**
 * Writes the table of the tokens that a kernel knows from the start, those of the lowest ids first.
 * The permanent table must not depend on counted texts, because a client could then learn from the
 * time what others have sent.
 * @param tokenStarts the place at which each token's bytes start in `tokenBytes`, and one past the
 * last
 */
export function writeShortTokens(
  table: Uint8Array,
  tokenStarts: Uint32Array,
  tokenBytes: Uint8Array,
): void {
  const memory = new WebAssembly.Memory({ initial: pagesFor(SHORT_BYTES) })
  const bytes = new Uint8Array(memory.buffer)
  writeMasks(bytes)
  const { exports } = instantiate(memory, { pieceEnd: () => 0, countPiece: () => 0 })
  const addToken = exports['addToken'] as (start: number, end: number) => void
  for (let id = 0; id + 1 < tokenStarts.length; id++) {
    const start = tokenStarts[id]!
    const length = tokenStarts[id + 1]! - start
    if (length > SHORT_BYTES) continue
    for (let i = 0; i < length; i++) bytes[AT_TEXT + i] = tokenBytes[start + i]!
    addToken(AT_TEXT, AT_TEXT + length)
  }
  table.set(bytes.subarray(AT_TOKENS, AT_SEEN))
}

/** A mask for each length of a short piece. */
function writeMasks(bytes: Uint8Array): void {
  for (let length = 0; length <= SHORT_BYTES; length++) {
    bytes.fill(0xff, AT_MASKS + length * 16, AT_MASKS + length * 16 + length)
  }
}

function instantiate(memory: WasmMemory, host: KernelHost) {
  return new WebAssembly.Instance(compiledKernel(), { env: { memory }, host: { ...host } })
}

function pagesFor(textBytes: number): number {
  return Math.ceil((AT_TEXT + textBytes + PADDING_BYTES) / PAGE_BYTES)
}

let compiled: WasmModule | undefined

/** Compiled once a thread; it is half a kilobyte. */
function compiledKernel(): WasmModule {
  compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BASE64, 'base64'))
  return compiled
}
