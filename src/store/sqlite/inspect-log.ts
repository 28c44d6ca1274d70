import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { PAGE_BYTES } from './settings.ts'

/**
 * Damage of a log that SQLite does not report: it reads a log up to the first frame whose checksum
 * is wrong, and takes the rest for frames of an earlier generation. Formats:
 * sqlite.org/fileformat2.html#walformat, sqlite.org/walformat.html.
 */
export interface LogFault {
  /** Pages that were committed and cannot be read; `null` if their number is unknown. */
  readonly lostPages: number | null
  readonly detail: string
}

const HEADER_BYTES = 32
const FRAME_BYTES = 24 + PAGE_BYTES
const MAGIC = 0x377f0682
/** The index has twice how far the log goes, and then how much of it is in the main file. */
const INDEX_BYTES = 136
const INDEX_COPY_BYTES = 48
/** A later generation's first salt is larger by a little. */
const GENERATIONS = 2 ** 31

interface Log {
  readonly bytes: Buffer
  readonly salts: Buffer
  readonly isWhole: boolean
  /** Frames before the first with a wrong checksum, and those of them up to the last commit. */
  readonly valid: number
  readonly committed: number
}

interface Index {
  readonly frames: number
  readonly copied: number
  readonly salts: Buffer
}

/**
 * Compares a log with its index, before SQLite opens them. `null` if nothing is missing.
 * @param path of the main file
 */
export function inspectLog(path: string): LogFault | null {
  const index = readIndex(`${path}-shm`)
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    const isMissing = index !== null && index.frames > index.copied
    return isMissing ? fault(index.frames - index.copied, 'it is not there') : null
  }
  const log = readLog(readFileSync(`${path}-wal`))
  return index === null ? withoutIndex(log) : (byIndex(log, index) ?? withoutIndex(log))
}

function byIndex(log: Log, { frames, copied, salts }: Index): LogFault | null {
  const isSame = log.isWhole && log.salts.equals(salts)
  const newer = (log.salts.readUInt32BE(0) - salts.readUInt32BE(0)) >>> 0
  // After a loss of power the index may be of an earlier generation.
  if (log.isWhole && !isSame && newer >= 1 && newer < GENERATIONS) return null
  const found = isSame ? log.committed : 0
  if (found >= frames) return null
  // Everything is in the main file, and no older page replaces a newer one.
  if (copied >= frames && found === 0) return null
  return fault(frames - found, `frame ${found + 1} of ${frames} does not check`)
}

/** Frames of this generation after the first that does not check, or what cannot be of any. */
function withoutIndex(log: Log): LogFault | null {
  if (!log.isWhole) return fault(null, 'its header does not check')
  let ours = 0
  for (let frame = log.valid + 1; frameAt(frame) + FRAME_BYTES <= log.bytes.length; frame++) {
    const at = frameAt(frame)
    const isOurs = [0, 4].some(
      salt => log.bytes.readUInt32BE(at + 8 + salt) === log.salts.readUInt32BE(salt),
    )
    if (isOurs && log.bytes.readUInt32BE(at + 4) > 0) ours = frame + 1 - log.committed
  }
  return ours > 0 ? fault(ours, `frame ${log.valid + 1} does not check`) : null
}

function frameAt(index: number): number {
  return HEADER_BYTES + index * FRAME_BYTES
}

function readLog(bytes: Buffer): Log {
  const salts = Buffer.alloc(8)
  const nothing = { bytes, salts, isWhole: false, valid: 0, committed: 0 }
  if (bytes.length < HEADER_BYTES) return nothing
  bytes.copy(salts, 0, 16, 24)
  const magic = bytes.readUInt32BE(0)
  if ((magic & ~1) >>> 0 !== MAGIC || bytes.readUInt32BE(8) !== PAGE_BYTES) return nothing
  const isBig = (magic & 1) === 1
  let sum = addUp(bytes, 0, 24, isBig, [0, 0])
  if (sum[0] !== bytes.readUInt32BE(24) || sum[1] !== bytes.readUInt32BE(28)) return nothing
  let valid = 0
  let committed = 0
  for (let at = HEADER_BYTES; at + FRAME_BYTES <= bytes.length; at += FRAME_BYTES) {
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break
    sum = addUp(bytes, at, 8, isBig, sum)
    sum = addUp(bytes, at + 24, PAGE_BYTES, isBig, sum)
    if (sum[0] !== bytes.readUInt32BE(at + 16) || sum[1] !== bytes.readUInt32BE(at + 20)) break
    valid++
    if (bytes.readUInt32BE(at + 4) > 0) committed = valid
  }
  return { bytes, salts, isWhole: true, valid, committed }
}

type Sum = readonly [number, number]

/** SQLite's checksum of a log, over pairs of 32-bit words. */
function addUp(bytes: Buffer, from: number, length: number, isBig: boolean, start: Sum): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset + from, length)
  let [first, second] = start
  for (let at = 0; at < length; at += 8) {
    first = (first + view.getUint32(at, !isBig) + second) >>> 0
    second = (second + view.getUint32(at + 4, !isBig) + first) >>> 0
  }
  return [first, second]
}

/**
 * Returns `null` if there is no index with a right checksum. An index has the machine's byte order;
 * only little-endian is read.
 */
function readIndex(path: string): Index | null {
  const bytes = Buffer.alloc(INDEX_BYTES)
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < INDEX_BYTES) return null
  const file = openSync(path, 'r')
  try {
    readSync(file, bytes, 0, INDEX_BYTES, 0)
  } finally {
    closeSync(file)
  }
  const [first, second] = addUp(bytes, 0, 40, false, [0, 0])
  const copy = bytes.subarray(INDEX_COPY_BYTES, 2 * INDEX_COPY_BYTES)
  if (!bytes.subarray(0, INDEX_COPY_BYTES).equals(copy) || bytes[12] !== 1) return null
  if (bytes.readUInt32LE(40) !== first || bytes.readUInt32LE(44) !== second) return null
  return {
    frames: bytes.readUInt32LE(16),
    copied: bytes.readUInt32LE(2 * INDEX_COPY_BYTES),
    salts: bytes.subarray(32, 40),
  }
}

function fault(lostPages: number | null, what: string): LogFault {
  return { lostPages, detail: `the log is cut: ${what}` }
}
