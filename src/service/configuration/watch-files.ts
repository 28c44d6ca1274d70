import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type LayersPlace,
  PROJECTS_FOLDER,
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
    // If two looks ran at once, the one that saw the older files could come last.
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
  const projects = join(dirname(common), PROJECTS_FOLDER)
  const ofProjects = (await namesIn(projects)).map(name => join(projects, name))
  const inFolders = await Promise.all([...folders, ...ofProjects].map(filesOf))
  const files = [common, ...(configFile === undefined ? [] : [configFile]), ...inFolders.flat()]
  return (await Promise.all(files.map(stampOfFile))).join('\n')
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const names = await namesIn(folder)
  return names.filter(name => name.endsWith('.toml')).map(name => join(folder, name))
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
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
