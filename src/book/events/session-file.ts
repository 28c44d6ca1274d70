import { appendFile as appendFileCallback, constants } from 'node:fs'
import { access, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { TelemetryEvent } from '../../core/telemetry/event.ts'
import { NO_SESSION } from '../../core/telemetry/pseudonyms.ts'
import { createRollup, type Rollup } from '../../core/telemetry/rollup.ts'
import type { SessionSummary } from '../../core/telemetry/summary.ts'
import { makeFolder } from '../../files/make-folder.ts'
import { newSegment, segmentFile, summaryFile } from './layout.ts'
import { isMissing } from './read-lines.ts'

/** An event with the line that is written for it. */
export interface Line {
  readonly event: TelemetryEvent
  readonly text: string
}

/** When a segment ends although its session continues. */
export interface RotationSettings {
  readonly rotate_bytes: number
}

/** The files of one session: one that is written, and those before it. Calls must not overlap. */
export interface SessionFile {
  /**
   * Appends lines, in order. @throws the file system's error; some of the lines may be written
   * then, the last one in part
   */
  append(lines: readonly Line[]): Promise<void>
  /** Whether the file that is written is large or old enough to end. */
  isFull(): boolean
  /**
   * Ends the file that is written, if there is one, and sums it up. @throws what the file system
   * says
   */
  finish(): Promise<void>
}

/** Takes half of the processor time of the one in `node:fs/promises`. */
const appendFile = promisify(appendFileCallback)
/** Makes no file. The types do not have that a number is allowed here, as with `open`. */
const APPEND = (constants.O_WRONLY | constants.O_APPEND) as unknown as string

/**
 * Longest time of a segment. A segment is deleted by the age of its first event, so its last event
 * must not be much younger.
 */
const MAX_SEGMENT_MS = 86_400_000

interface Segment {
  readonly name: string
  readonly startedMs: number
  readonly rollup: Rollup
  bytes: number
  lastMs: number
  /** Whether the last line may be incomplete. */
  isTorn: boolean
}

export function createSessionFile(
  tenantFolder: string,
  sessionHash: string,
  settings: RotationSettings,
  writeSummary: (summary: SessionSummary) => Promise<void>,
): SessionFile {
  let segment: Segment | null = null

  function begin(startedMs: number): Segment {
    const name = newSegment(sessionHash, startedMs)
    const rollup = createRollup()
    return { name, startedMs, rollup, bytes: 0, lastMs: startedMs, isTorn: false }
  }

  async function finish(): Promise<void> {
    if (segment === null) return
    const { name, rollup } = segment
    segment = null
    const summary = sessionHash === NO_SESSION ? null : rollup.summary(name)
    // The process that closed or deleted the file has summed it up. If a process ends in between,
    // the segment is summed up once more, under the same name.
    if (summary !== null && (await isThere(segmentFile(tenantFolder, name, true)))) {
      await writeSummary(summary)
    }
    await closeSegment(tenantFolder, name)
  }

  /** Appends to a segment's file; `false` if another has closed or deleted it meanwhile. */
  async function isAppended(current: Segment, lines: string): Promise<boolean> {
    const file = segmentFile(tenantFolder, current.name, true)
    const text = (current.isTorn ? '\n' : '') + lines
    current.isTorn = true
    try {
      if (current.bytes === 0) await appendTo(file, text)
      else await appendFile(file, text, { flag: APPEND })
    } catch (error) {
      if (current.bytes > 0 && isMissing(error)) return false
      throw error
    }
    current.isTorn = false
    current.bytes += Buffer.byteLength(text)
    return true
  }

  return {
    finish,
    async append(lines) {
      const [first] = lines
      if (first === undefined) return
      const text = lines.map(line => line.text).join('')
      segment ??= begin(first.event.ts_ms)
      if (!(await isAppended(segment, text))) {
        segment = begin(first.event.ts_ms)
        await isAppended(segment, text)
      }
      for (const { event } of lines) segment.rollup.add(event)
      segment.lastMs = lines.at(-1)!.event.ts_ms
    },
    isFull() {
      if (segment === null) return false
      const { bytes, startedMs, lastMs } = segment
      return bytes >= settings.rotate_bytes || lastMs - startedMs >= MAX_SEGMENT_MS
    },
  }
}

/** Marks a segment as complete. One that was deleted or marked meanwhile is left alone. */
export async function closeSegment(tenantFolder: string, name: string): Promise<void> {
  try {
    await rename(segmentFile(tenantFolder, name, true), segmentFile(tenantFolder, name, false))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

async function isThere(file: string): Promise<boolean> {
  try {
    await access(file)
    return true
  } catch {
    return false
  }
}

/** Appends a summary to today's file of this process. */
export async function appendSummary(
  tenantFolder: string,
  summary: SessionSummary,
  { nowMs, digits }: { readonly nowMs: number; readonly digits: string },
): Promise<void> {
  // The line feed before it keeps it apart from a line that was written in part.
  await appendTo(summaryFile(tenantFolder, nowMs, digits), `\n${JSON.stringify(summary)}\n`)
}

/** Appends with one write, for the owner alone; makes the folder if it is missing. */
async function appendTo(file: string, text: string): Promise<void> {
  const append = () => appendFile(file, text, { mode: 0o600 })
  try {
    await append()
  } catch (error) {
    if (!isMissing(error)) throw error
    makeFolder(dirname(file))
    await append()
  }
}
