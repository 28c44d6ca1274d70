import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { ConfigError } from '../read-toml.ts'
import { type LayersPlace, pipelineFileOf } from './read-layers.ts'

const FOLDER = '.haversack'
const NAME = 'pipeline_config.toml'
/** Marks the root of a repository: a folder, or in a worktree a file. */
const ROOT = '.git'

/**
 * The places of layers for a command that works in a folder. It adds the file of the project, which
 * is looked for upward, to the root of the repository. If the data folder is the usual one in a
 * repository, its files come with the repository too, and are trusted as little.
 * @param place its data folder is relative if nothing was configured
 * @throws ConfigError if the project's file is linked to a place outside of the repository
 */
export function layersInProject(place: LayersPlace, from: string): LayersPlace {
  const folders = foldersUpTo(from)
  if (folders === null) return place
  const isOfRepository = place.data_dir === FOLDER && place.pipeline_config_file === undefined
  const inPlace = isOfRepository ? { ...place, isOfRepository } : place
  const project = folders.map(folder => join(folder, FOLDER, NAME)).find(file => existsSync(file))
  if (project === undefined) return inPlace
  const root = folders.at(-1) as string
  if (!realpathSync(project).startsWith(realpathSync(root) + sep)) {
    throw new ConfigError([`${project}: leads out of the repository`])
  }
  // It is read once.
  const isCommon = resolve(from, pipelineFileOf(place)) === project
  return isCommon ? inPlace : { ...inPlace, project }
}

/** The folder and those above it, up to the repository's root; `null` if it is in none. */
function foldersUpTo(from: string): readonly string[] | null {
  const folders: string[] = []
  let folder = resolve(from)
  for (;;) {
    folders.push(folder)
    if (existsSync(join(folder, ROOT))) return folders
    const above = dirname(folder)
    if (above === folder) return null
    folder = above
  }
}
