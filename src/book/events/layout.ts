import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

/**
 * The places of telemetry: `<data>/telemetry/<tenant>/events/<segment>.jsonl`, `.open.jsonl` while
 * it is written, and `<data>/telemetry/<tenant>/sessions/<day>-<process>.jsonl`. Every part of a
 * name is a hash, a time or random.
 */
const FOLDER = 'telemetry'
const EVENTS = 'events'
const SESSIONS = 'sessions'

const OPEN_SUFFIX = '.open.jsonl'
const SUFFIX = '.jsonl'
const TENANT = /^[0-9a-f]{16}$/
/** Session, start in milliseconds, and what distinguishes those that began at once. */
const SEGMENT = /^([0-9a-f]{16}-([0-9a-f]{12})-[0-9a-f]{8})(\.open)?\.jsonl$/
const DAY = /^(\d{4}-\d{2}-\d{2})-[0-9a-f]{8}\.jsonl$/

/** A file of events, by its name. */
export interface SegmentName {
  /** The name without what follows the first dot. */
  readonly segment: string
  readonly startedMs: number
  /** Whether it is still written, or was when its process ended. */
  readonly isOpen: boolean
}

export function telemetryFolder(dataDir: string): string {
  return join(dataDir, FOLDER)
}

export function isTenantFolder(name: string): boolean {
  return TENANT.test(name)
}

export function eventsFolder(tenantFolder: string): string {
  return join(tenantFolder, EVENTS)
}

export function sessionsFolder(tenantFolder: string): string {
  return join(tenantFolder, SESSIONS)
}

/** A name that no other segment has. @param sessionHash 16 hex digits */
export function newSegment(sessionHash: string, startedMs: number): string {
  return `${sessionHash}-${startedMs.toString(16).padStart(12, '0')}-${randomDigits()}`
}

export function segmentFile(tenantFolder: string, segment: string, isOpen: boolean): string {
  return join(tenantFolder, EVENTS, segment + (isOpen ? OPEN_SUFFIX : SUFFIX))
}

/** Returns `null` for a file that is not ours. */
export function readSegmentName(file: string): SegmentName | null {
  const [, segment, started, open] = SEGMENT.exec(file) ?? []
  if (segment === undefined || started === undefined) return null
  return { segment, startedMs: Number.parseInt(started, 16), isOpen: open !== undefined }
}

/** Distinguishes the files of processes that write summaries on the same day. */
export function randomDigits(): string {
  return randomBytes(4).toString('hex')
}

export function summaryFile(tenantFolder: string, atMs: number, digits: string): string {
  const day = new Date(atMs).toISOString().slice(0, 10)
  return join(tenantFolder, SESSIONS, `${day}-${digits}${SUFFIX}`)
}

/** When the day of a file of summaries began, in Unix milliseconds; `null` for any other file. */
export function dayOfSummaries(file: string): number | null {
  const [, day] = DAY.exec(file) ?? []
  const began = day === undefined ? Number.NaN : Date.parse(day)
  return Number.isNaN(began) ? null : began
}
