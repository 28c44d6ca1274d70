import type { PipelineConfig } from '../core/pipeline/profile/pipeline-config.ts'
import { LEGEND } from '../core/reading/legend.ts'
import { type LayersOf, type LayersPlace, readLayers } from './layers/read-layers.ts'

/**
 * How the pipeline chooses: layers of `docs/reference/configuration.md`. The built-in defaults if
 * there are no files.
 * @throws ConfigError with every fault at once; also for a named file that cannot be read
 */
export function readPipelineConfig(place: LayersPlace, of: LayersOf = {}): PipelineConfig {
  return readLayers(place, of).pipeline
}

/** Whether a level of the configuration may leave out parts of results. */
export function leavesOutByLevel({ views }: PipelineConfig): boolean {
  const ofContext = views.pressure.map(({ level }) => level)
  const levels = [views.level, ...Object.values(views.levels), ...ofContext]
  return levels.some(level => level !== 'full')
}

/** What models are told of packed results, beside them; `undefined`: nothing, as no hint. */
export function legendOf({ hints }: PipelineConfig): string | undefined {
  return hints.enabled ? LEGEND : undefined
}
