import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { isCompressed, plainName } from './chunks.ts'

/** A log to read. */
export interface LogFile {
  readonly path: string
  /** As it lies on the disk. */
  readonly bytes: number
}

export interface LogList {
  /** The logs in the order of their paths, so that the same folder always has the same result. */
  readonly files: readonly LogFile[]
  /** Other files, and files and folders that cannot be read. */
  readonly other: number
  readonly unreadable: number
}

const SUFFIX = '.jsonl'

/**
 * All `.jsonl` files below some folders, compressed ones too; a path that is named itself is read
 * whatever its name. Links below a folder are not followed, so that no circle stops the search. No
 * file comes twice under different names. Files that cannot be read are counted.
 */
export function listLogs(paths: readonly string[]): LogList {
  const list = { files: [] as LogFile[], other: 0, unreadable: 0, known: new Set<string>() }
  for (const path of paths) visit(path, statsOf(path), list)
  const { known: _, ...found } = list
  return found
}

interface Found {
  readonly files: LogFile[]
  other: number
  unreadable: number
  /** Devices and numbers of files that were found. */
  readonly known: Set<string>
}

function visit(root: string, rootStats: Stats | null, list: Found): void {
  // A stack of its own: folders may be nested as deep as they like.
  const open: { path: string; stats: Stats | null }[] = [{ path: root, stats: rootStats }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, stats } = next
    if (stats === null) list.unreadable++
    else if (stats.isFile()) add(path, stats, list)
    else if (!stats.isDirectory()) list.other++
    else {
      const entries = entriesOf(path)
      if (entries === null) list.unreadable++
      const names = new Set(entries?.map(({ name }) => name))
      for (const entry of entries ?? []) {
        if (entry.isDirectory() || isLog(entry)) {
          // While a log is packed or unpacked both may be there.
          const isSecond = isCompressed(entry.name) && names.has(plainName(entry.name))
          if (!isSecond) open.push(found(join(path, entry.name)))
        } else list.other++
      }
    }
  }
}

function add(path: string, { dev, ino, size: bytes }: Stats, { files, known }: Found): void {
  const key = `${dev} ${ino}`
  if (known.has(key)) return
  known.add(key)
  files.push({ path, bytes })
}

function found(path: string) {
  return { path, stats: statsOf(path) }
}

function isLog(entry: Dirent): boolean {
  return entry.isFile() && plainName(entry.name).endsWith(SUFFIX)
}

/** The last first, since what is opened last is visited first. */
function entriesOf(path: string): Dirent[] | null {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? 1 : -1))
  } catch {
    return null // counted
  }
}

function statsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null // counted
  }
}
