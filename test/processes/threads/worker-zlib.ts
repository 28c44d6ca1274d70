import { zstdCompressSync } from 'node:zlib'
import { decodeBody, encodeBody } from '../../../src/core/base/content-coding.ts'
import { compressed } from '../../../src/core/base/zlib-calls.ts'
import { expandNote, shortenNote } from '../../../src/core/sessions/journal/note-text.ts'
import { chunksOf } from '../../../src/lab/logs/chunks.ts'
import { decompressed } from '../../../src/store/values/codec.ts'
import { ownThread } from '../../../src/threads/own-thread.ts'

interface Task {
  readonly way: string
  readonly log: string
  /** A cell that is set when all threads are there. */
  readonly start: SharedArrayBuffer
}

const { port, data } = ownThread<Task>()
const bytes = Buffer.alloc(64, 'ab')
const stored = { bytes: zstdCompressSync(bytes), isCompressed: true }
const note = Array.from({ length: 300 }, (_, i) => i).join()
const known = { words: [], hashes: [] }

/** All that threads use zlib for. */
const WAYS: Readonly<Record<string, () => unknown>> = {
  store: () => compressed(bytes),
  read: () => decompressed(stored, bytes.length),
  zstd: () => decodeBody(encodeBody(bytes, 'zstd'), 'zstd', 1_000),
  gzip: () => decodeBody(encodeBody(bytes, 'gzip'), 'gzip', 1_000),
  note: () => expandNote(Buffer.from(shortenNote(note, known)), known),
  log: () => [...chunksOf(data.log)],
}

/** A thread that compresses or decompresses small texts without end, in the way that it is told. */
const run = WAYS[data.way] as () => unknown
run()
port.postMessage('ready')
Atomics.wait(new Int32Array(data.start), 0, 0)
for (;;) run()
