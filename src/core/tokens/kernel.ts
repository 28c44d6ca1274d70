/**
 * The compiled inner loop and its memory. Source: `scripts/build-kernel/count-pieces.as`. TypeScript does the same
 * work at half the speed (docs/tokens.md, "Why a kernel"); all that is rare stays in TypeScript, called back.
 *
 * | address | holds |
 * |---|---|
 * | 0 | the encoding's automaton, a byte for each (state, byte) |
 * | 0x2000 | 16 masks of 16 bytes: the first n bytes of a piece's words |
 * | 0x2200 | pieces counted so far, i32 |
 * | 0x10000 | piece cache, 2^17 slots of 16 bytes |
 * | 0x210000 | the text, UTF-8, and 16 readable bytes after it |
 */
import { asciiAutomaton } from './ascii-automaton.ts'
import { KERNEL_BASE64 } from './kernel-bytes.ts'
import type { Encoding } from './vocabulary.ts'

const AT_MASKS = 0x2000
const AT_PIECES = 0x2200
/** Where the text begins. */
export const AT_TEXT = 0x210000
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

/** What the kernel asks back; positions are addresses in its memory. */
export interface KernelHost {
  /** End of the piece at `start`, which holds bytes beyond ASCII. */
  pieceEnd(start: number): number
  /** Tokens of a piece that is not in the kernel's cache. */
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
   * Tokens between two addresses. `bytes[end]` must be SENTINEL. Counts on only until the sum is above `limit`,
   * which must fit 32 bits.
   */
  countBlock(start: number, end: number, limit: number): number
}

/** A kernel with a memory and a piece cache of its own, with room for `textBytes` of text. */
export function createKernel(encoding: Encoding, textBytes: number, host: KernelHost): Kernel {
  const memory = new WebAssembly.Memory({ initial: pagesFor(textBytes) })
  let bytes = new Uint8Array(memory.buffer)
  let view = new DataView(memory.buffer)
  bytes.set(asciiAutomaton(encoding), 0)
  for (let length = 0; length <= SHORT_BYTES; length++) {
    bytes.fill(0xff, AT_MASKS + length * 16, AT_MASKS + length * 16 + length)
  }
  const { exports } = new WebAssembly.Instance(compiledKernel(), {
    env: { memory },
    host: { ...host },
  })
  return {
    get bytes() {
      return bytes
    },
    get view() {
      return view
    },
    pieces: () => view.getInt32(AT_PIECES, true),
    reserve(needed) {
      const missing = pagesFor(needed) - memory.buffer.byteLength / PAGE_BYTES
      if (missing <= 0) return
      memory.grow(missing)
      bytes = new Uint8Array(memory.buffer)
      view = new DataView(memory.buffer)
    },
    countBlock: exports['countBlock'] as Kernel['countBlock'],
  }
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
