import { createReadStream } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import type { LineFault, ParsedLine } from '../../core/telemetry/parse-line.ts'

/** Counts of what was read in telemetry files, and what was skipped. */
export interface ReadTally {
  files: number
  /** Files that could not be read to their end. */
  unreadable: number
  /** Lines that hold a value. */
  read: number
  /**
   * Lines without a value, by the reason. `torn`: the last line was not finished. `too_long`:
   * longer than any line that we write.
   */
  readonly skipped: Record<LineFault | 'torn' | 'too_long', number>
}

export function noTally(): ReadTally {
  const skipped = { malformed: 0, version: 0, invalid: 0, torn: 0, too_long: 0 }
  return { files: 0, unreadable: 0, read: 0, skipped }
}

/** Longer than any line that we write. */
const MAX_LINE_CHARS = 65_536
/** Bytes that are parsed at once, so that other work of the thread does not wait. */
const CHUNK_BYTES = 16 * 1024

/**
 * The values of a file's lines, in batches, in memory that does not depend on the file. Lines that
 * hold none are counted, and so is a file that cannot be read; nothing is thrown for them.
 * @param laterName what the file is called once it is complete, if that may happen meanwhile
 */
export async function* readLines<T>(
  file: string,
  parse: (line: string) => ParsedLine<T>,
  tally: ReadTally,
  laterName?: string,
): AsyncGenerator<readonly T[]> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  /** Whether this is the rest of a line whose first part was dropped. */
  let isTooLong = false
  let batch: T[] = []

  function take(line: string, isLast: boolean): void {
    if (isTooLong || line.length > MAX_LINE_CHARS) {
      tally.skipped.too_long++
      isTooLong = false
      return
    }
    if (line.trim() === '') return
    const parsed = parse(line)
    if (parsed.ok) {
      tally.read++
      batch.push(parsed.value)
    } else tally.skipped[isLast && parsed.fault === 'malformed' ? 'torn' : parsed.fault]++
  }

  function takeChunk(text: string): void {
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      take(rest + text.slice(start, end), false)
      rest = ''
      start = end + 1
    }
    rest += text.slice(start)
    if (rest.length > MAX_LINE_CHARS) {
      isTooLong = true
      rest = ''
    }
  }

  tally.files++
  try {
    const chunks = createReadStream(file, { highWaterMark: CHUNK_BYTES })
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      takeChunk(decoder.write(chunk))
      if (batch.length > 0) yield batch
      batch = []
    }
    take(rest + decoder.end(), true)
  } catch (error) {
    if (!isFileError(error)) throw error
    if (isMissing(error) && laterName !== undefined) {
      tally.files--
      yield* readLines(laterName, parse, tally)
    } else tally.unreadable++
  }
  if (batch.length > 0) yield batch
}

/** Whether the error came from the file system, not from the reader's own code. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

/** Whether the file system has no such file or folder. */
export function isMissing(error: unknown): boolean {
  return isFileError(error) && error.code === 'ENOENT'
}
