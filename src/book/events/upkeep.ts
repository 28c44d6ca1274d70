import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEventLine } from '../../core/telemetry/parse-line.ts'
import { NO_SESSION } from '../../core/telemetry/pseudonyms.ts'
import { createRollup } from '../../core/telemetry/rollup.ts'
import type { SessionSummary } from '../../core/telemetry/summary.ts'
import { dayOfSummaries, eventsFolder, readSegmentName, sessionsFolder } from './layout.ts'
import { isMissing, noTally, readLines } from './read-lines.ts'
import { namesIn, tenantsOf } from './read-telemetry.ts'
import { closeSegment } from './session-file.ts'

/** How long files are kept, and how many bytes of them. */
export interface RetentionSettings {
  readonly event_ttl_ms: number
  readonly summary_ttl_ms: number
  readonly max_bytes: number
  /** A session ends when nothing has come for so long. */
  readonly idle_ms: number
}

/** What `blocks` counts. */
const BLOCK_BYTES = 512

interface FileFacts {
  readonly path: string
  /** On the disk. */
  readonly bytes: number
  readonly changedMs: number
}

/** What may be deleted. */
interface KeptFile extends FileFacts {
  /** Nothing in it is older. */
  readonly startedMs: number
  /** Still written, or left by a process that was killed: stays. */
  readonly isOpen: boolean
}

interface EventFile extends KeptFile {
  readonly tenantFolder: string
  readonly segment: string
}

/** Runs a step. If the file system refuses it, the next step still runs. */
type Attempt = (what: () => Promise<void>) => Promise<void>

const DAY_MS = 86_400_000
/** The share of all kept bytes that summaries may take. */
const SUMMARIES_SHARE = 1 / 8

/**
 * Maintains the files of this process, of earlier ones and of others. It deletes files that are too
 * old, and the oldest if all together are too large. It also sums up segments that were not closed.
 * @throws the file system's first error, after everything else was done
 */
export async function tidy(
  folder: string,
  settings: RetentionSettings,
  nowMs: number,
  writeSummary: (tenantFolder: string, summary: SessionSummary) => Promise<void>,
): Promise<void> {
  const { event_ttl_ms, summary_ttl_ms, max_bytes, idle_ms } = settings
  let failure: unknown
  const attempt: Attempt = async what => {
    try {
      await what()
    } catch (error) {
      // Other processes may delete a file that was found just now.
      if (!isMissing(error)) failure ??= error
    }
  }
  const events: EventFile[] = []
  const summaries: KeptFile[] = []
  for (const tenant of await tenantsOf(folder)) {
    const tenantFolder = join(folder, tenant)
    const eventOf = (file: string) => {
      const name = readSegmentName(file)
      return name && { tenantFolder, ...name }
    }
    const summaryOf = (file: string) => {
      const startedMs = dayOfSummaries(file)
      return startedMs === null ? null : { startedMs, isOpen: false }
    }
    await attempt(() => find(eventsFolder(tenantFolder), eventOf, events, attempt))
    await attempt(() => find(sessionsFolder(tenantFolder), summaryOf, summaries, attempt))
  }
  const keptEvents = await deleteOld(events, nowMs - event_ttl_ms, attempt)
  const keptSummaries = await deleteOld(summaries, nowMs - summary_ttl_ms - DAY_MS, attempt)
  const bytes = await deleteBeyond(keptSummaries, max_bytes * SUMMARIES_SHARE, attempt)
  await deleteBeyond(keptEvents, max_bytes - bytes, attempt)
  // Its own process would have closed it long ago.
  const isLeft = ({ isOpen, changedMs }: EventFile) => isOpen && changedMs < nowMs - 2 * idle_ms
  for (const file of keptEvents.filter(isLeft)) {
    await attempt(() => sumUp(file, summary => writeSummary(file.tenantFolder, summary)))
  }
  if (failure !== undefined) throw failure
}

/** Adds the files of a folder that have a name of ours. */
async function find<Name>(
  folder: string,
  nameOf: (file: string) => Name | null,
  found: (Name & FileFacts)[],
  attempt: Attempt,
): Promise<void> {
  for (const file of await namesIn(folder)) {
    const name = nameOf(file)
    const path = join(folder, file)
    if (name !== null)
      await attempt(async () => void found.push({ ...name, ...(await factsOf(path)) }))
  }
}

/** A small file takes a block of the disk. */
async function factsOf(path: string): Promise<FileFacts> {
  const { size, blocks, mtimeMs } = await stat(path)
  return { path, bytes: Math.max(size, blocks * BLOCK_BYTES), changedMs: mtimeMs }
}

/** @returns those that are not too old */
async function deleteOld<File extends KeptFile>(
  files: readonly File[],
  beforeMs: number,
  attempt: Attempt,
): Promise<File[]> {
  for (const { path, startedMs } of files) {
    if (startedMs < beforeMs) await attempt(() => rm(path, { force: true }))
  }
  return files.filter(({ startedMs }) => startedMs >= beforeMs)
}

/** @returns bytes that are left */
async function deleteBeyond(
  files: readonly KeptFile[],
  maxBytes: number,
  attempt: Attempt,
): Promise<number> {
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  for (const file of files.toSorted((a, b) => a.startedMs - b.startedMs)) {
    if (bytes <= maxBytes) break
    if (file.isOpen) continue
    await attempt(() => rm(file.path, { force: true }))
    bytes -= file.bytes
  }
  return bytes
}

async function sumUp(
  { tenantFolder, path, segment }: EventFile,
  writeSummary: (summary: SessionSummary) => Promise<void>,
): Promise<void> {
  const rollup = createRollup()
  for await (const batch of readLines(path, parseEventLine, noTally())) {
    for (const event of batch) if (event.session_hash !== NO_SESSION) rollup.add(event)
  }
  const summary = rollup.summary(segment)
  if (summary !== null) await writeSummary(summary)
  await closeSegment(tenantFolder, segment)
}
