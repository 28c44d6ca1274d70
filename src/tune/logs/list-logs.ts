import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'

/** A log to read. */
export interface LogFile {
  readonly path: string
  readonly bytes: number
}

export interface LogList {
  /** In the order of their paths, so that the same folder always gives the same. */
  readonly files: readonly LogFile[]
  /** What is no log: files of another kind, and files and folders that cannot be read. */
  readonly other: number
  readonly unreadable: number
}

const SUFFIX = '.jsonl'

/**
 * All `.jsonl` files below some folders; what is named itself is taken whatever its name. Links below a folder are not followed, so
 * that no file comes twice and no circle holds the search. What cannot be read is counted.
 */
export function listLogs(paths: readonly string[]): LogList {
  const list = { files: [] as LogFile[], other: 0, unreadable: 0 }
  for (const path of paths) visit(path, statsOf(path), list)
  return list
}

function visit(root: string, rootStats: Stats | null, list: Mutable<LogList>): void {
  // A stack of its own: folders may be nested as deep as they like.
  const open: { path: string; stats: Stats | null }[] = [{ path: root, stats: rootStats }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, stats } = next
    if (stats === null) list.unreadable++
    else if (stats.isFile()) list.files.push({ path, bytes: stats.size })
    else if (!stats.isDirectory()) list.other++
    else {
      const entries = entriesOf(path)
      if (entries === null) list.unreadable++
      for (const entry of entries ?? []) {
        if (!entry.isDirectory() && !isLog(entry)) list.other++
        else open.push(found(join(path, entry.name)))
      }
    }
  }
}

type Mutable<List> = {
  -readonly [key in keyof List]: List[key] extends readonly LogFile[] ? LogFile[] : List[key]
}

function found(path: string) {
  return { path, stats: statsOf(path) }
}

function isLog(entry: Dirent): boolean {
  return entry.isFile() && entry.name.endsWith(SUFFIX)
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
