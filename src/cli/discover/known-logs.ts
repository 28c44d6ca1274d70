import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../files/make-folder.ts'
import type { EncodedLog, LogSummary } from '../../lab/discover/summarize-log.ts'
import type { LogFile } from '../../lab/logs/list-logs.ts'
import { VERSION } from '../../runtime/version.ts'

/** A log, and what is known of it. */
export interface KnownLog {
  readonly file: LogFile
  readonly modified: number
  /** `null`: it was not read, or could not be. */
  summary: LogSummary | null
  encoded: EncodedLog | null
}

/** What was read of logs, without their content; an unchanged log is not read again. */
export interface LogMemory {
  /** The order in which logs are drawn. */
  readonly salt: string
  readonly logs: Readonly<Record<string, Omit<KnownLog, 'file'> & { readonly bytes: number }>>
}

const FILE = 'discover.json'

/** A file of another version is as none: its texts may have other sizes. */
export function readMemory(folder: string): LogMemory {
  try {
    const { version, ...memory } = JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
    if (version === VERSION) return memory as LogMemory
  } catch {
    // It is not there, or was not written to its end.
  }
  return { salt: randomUUID(), logs: {} }
}

/** Keeps what is known of these logs, and of no other. Nothing is kept if that fails. */
export function writeMemory(folder: string, salt: string, known: readonly KnownLog[]): void {
  const logs = known.map(({ file, ...log }) => [file.path, { ...log, bytes: file.bytes }])
  const file = join(folder, FILE)
  const draft = `${file}.${randomUUID()}`
  try {
    makeFolder(folder)
    const text = JSON.stringify({ version: VERSION, salt, logs: Object.fromEntries(logs) })
    writeFileSync(draft, text, { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    rmSync(draft, { force: true })
  }
}
