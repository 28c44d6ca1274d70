import { stat } from 'node:fs/promises'

/** How often the file is looked at, in milliseconds: how long a revoked key may still work. */
const LOOK_MS = 2_000

export interface FileWatch {
  /**
   * Calls `changed` each time the file differs from before. The first comparison is with the file
   * as it was when the watch was made.
   */
  begin(changed: () => void): void
  close(): void
}

/**
 * Watches by looking at intervals, because a file that Kubernetes mounts from a Secret changes
 * without an event. Make the watch before reading the file, so that no change is missed.
 */
export async function watchFile(path: string): Promise<FileWatch> {
  let seen = await stamp(path)
  let timer: NodeJS.Timeout | undefined
  /** If two looks ran at once, the one that saw the older file could come last. */
  let isLooking = false

  async function look(changed: () => void): Promise<void> {
    if (isLooking) return
    isLooking = true
    const now = await stamp(path)
    isLooking = false
    if (now === seen) return
    seen = now
    changed()
  }

  return {
    begin(changed) {
      timer = setInterval(() => void look(changed), LOOK_MS)
      timer.unref()
    },
    close: () => clearInterval(timer),
  }
}

/**
 * A text that differs after a file was replaced, rewritten, or made readable. A missing file has
 * one too.
 */
async function stamp(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return 'missing'
  }
}
