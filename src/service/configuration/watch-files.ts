import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type LayersPlace,
  pipelineFileOf,
  TENANTS_FOLDER,
  TUNED_FOLDER,
} from '../../config/layers/read-layers.ts'

/** How often the files are looked at, in milliseconds: a change is in force within a second. */
const LOOK_MS = 400

export interface FilesWatch {
  close(): void
}

/**
 * Calls `changed` each time that a file of the configuration differs from before. It looks at
 * intervals, because files that Kubernetes mounts change without an event.
 * @param configFile that of the service; absent: there is none
 */
export function watchConfiguration(
  place: LayersPlace,
  configFile: string | undefined,
  changed: () => void,
): FilesWatch {
  let seen: string | null = null
  let isLooking = false

  async function look(): Promise<void> {
    // Of two looks at once, the one that saw the older files could come last.
    if (isLooking) return
    isLooking = true
    const now = await stampOf(place, configFile)
    isLooking = false
    const isChanged = seen !== null && seen !== now
    seen = now
    if (isChanged) changed()
  }

  void look()
  const timer = setInterval(() => void look(), LOOK_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

/** A text that differs after any of the files was replaced, rewritten, made or removed. */
async function stampOf(place: LayersPlace, configFile: string | undefined): Promise<string> {
  const common = pipelineFileOf(place)
  const folders = [join(place.data_dir, TUNED_FOLDER), join(dirname(common), TENANTS_FOLDER)]
  const inFolders = await Promise.all(folders.map(filesOf))
  const files = [common, ...(configFile === undefined ? [] : [configFile]), ...inFolders.flat()]
  return (await Promise.all(files.map(stampOfFile))).join('\n')
}

async function filesOf(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder)
    return names.filter(name => name.endsWith('.toml')).map(name => join(folder, name))
  } catch {
    return []
  }
}

async function stampOfFile(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
    return `${file} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return `${file} missing`
  }
}
