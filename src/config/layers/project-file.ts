import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { ConfigError } from '../read-toml.ts'
import { type LayersPlace, pipelineFileOf } from './read-layers.ts'
import { foldersUpTo } from './repository.ts'

const FOLDER = '.haversack'
const NAME = 'pipeline_config.toml'

/**
 * The places of layers for a service that is started in a folder. Who names its data folder from
 * there may be in any repository: files that came with one are trusted as little as a project's.
 * @param place its data folder may be relative
 */
export function layersOfService(place: LayersPlace, from: string): LayersPlace {
  const { data_dir, pipeline_config_file } = place
  if (isAbsolute(data_dir) || pipeline_config_file !== undefined) return place
  const isOfRepository = foldersUpTo(resolve(from, data_dir)) !== null
  return isOfRepository ? { ...place, isOfRepository } : place
}

/**
 * The places of layers for a command that works in a folder. It adds the file of the project, which
 * is looked for upward, to the root of the repository.
 * @param place its data folder may be relative
 * @throws ConfigError if the project's file is linked to a place outside of the repository
 */
export function layersInProject(place: LayersPlace, from: string): LayersPlace {
  const folders = foldersUpTo(from)
  const inPlace = layersOfService(place, from)
  if (folders === null) return inPlace
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
