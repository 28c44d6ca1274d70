import { closeSync, openSync, writeSync } from 'node:fs'
import { UsageError } from '../../console/command.ts'

/** Takes the lines of a transcript. */
export interface TranscriptFile {
  /** Gives the entry's line, counted from 1. */
  write(entry: object): number
  close(): void
}

/**
 * A transcript at `path`, which `haversack verify` reads; without a path the lines are only
 * counted.
 * @throws UsageError if the file cannot be written
 */
export function openTranscript(path: string | undefined): TranscriptFile {
  const file = path === undefined ? undefined : open(path)
  let lines = 0
  return {
    write(entry) {
      if (file !== undefined) writeSync(file, `${JSON.stringify(entry)}\n`)
      return ++lines
    },
    close() {
      if (file !== undefined) closeSync(file)
    },
  }
}

/** Readable to its owner only: it has all content. */
function open(path: string): number {
  try {
    return openSync(path, 'w', 0o600)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
