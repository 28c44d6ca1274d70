import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { NO_SESSION } from '../core/telemetry/event.ts'
import { parseEventLine } from '../core/telemetry/parse-line.ts'
import { createRollup } from '../core/telemetry/rollup.ts'
import type { SessionSummary } from '../core/telemetry/summary.ts'
import { dayOfSummaries, eventsFolder, readSegmentName, sessionsFolder } from './layout.ts'
import { isFileError, noTally, readLines } from './read-lines.ts'
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

interface EventFile {
  readonly tenantFolder: string
  readonly path: string
  readonly segment: string
  readonly startedMs: number
  readonly isOpen: boolean
  readonly bytes: number
  readonly changedMs: number
}

const DAY_MS = 86_400_000

/**
 * Looks after what processes before this one, and beside it, have written: sums up segments that nobody closed, deletes what
 * is too old, and the oldest where all together are too large.
 * @throws what the file system says
 */
export async function tidy(
  folder: string,
  settings: RetentionSettings,
  nowMs: number,
  writeSummary: (tenantFolder: string, summary: SessionSummary) => Promise<void>,
): Promise<void> {
  const files: EventFile[] = []
  for (const tenant of await tenantsOf(folder)) {
    const tenantFolder = join(folder, tenant)
    files.push(...(await eventFilesIn(tenantFolder)))
    await deleteSummaries(sessionsFolder(tenantFolder), nowMs - settings.summary_ttl_ms - DAY_MS)
  }
  const isOld = ({ startedMs }: EventFile) => startedMs < nowMs - settings.event_ttl_ms
  for (const file of files.filter(isOld)) await unlinkIfThere(file.path)
  const kept = files.filter(file => !isOld(file))
  // Its own process would have closed it long ago.
  const isLeft = ({ isOpen, changedMs }: EventFile) =>
    isOpen && changedMs < nowMs - 2 * settings.idle_ms
  for (const file of kept.filter(isLeft)) {
    await sumUp(file, summary => writeSummary(file.tenantFolder, summary))
  }
  await deleteBeyond(
    kept.filter(({ isOpen }) => !isOpen),
    settings.max_bytes,
  )
}

async function eventFilesIn(tenantFolder: string): Promise<EventFile[]> {
  const folder = eventsFolder(tenantFolder)
  const files: EventFile[] = []
  for (const file of await namesIn(folder)) {
    const name = readSegmentName(file)
    const path = join(folder, file)
    const found = name === null ? null : await statIfThere(path)
    if (name === null || found === null) continue
    files.push({ tenantFolder, path, ...name, bytes: found.size, changedMs: found.mtimeMs })
  }
  return files
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

async function deleteBeyond(files: readonly EventFile[], maxBytes: number): Promise<void> {
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  for (const file of files.toSorted((a, b) => a.startedMs - b.startedMs)) {
    if (bytes <= maxBytes) return
    await unlinkIfThere(file.path)
    bytes -= file.bytes
  }
}

async function deleteSummaries(folder: string, before: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const day = dayOfSummaries(name)
    if (day !== null && day < before) await unlinkIfThere(join(folder, name))
  }
}

async function statIfThere(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if (isFileError(error) && error.code === 'ENOENT') return null
    throw error
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!isFileError(error) || error.code !== 'ENOENT') throw error
  }
}
