import type { KeyPath, Tree } from '../../core/pipeline/profile/key-path.ts'
import { type PipelineConfig, pipelineSchema } from '../../core/pipeline/profile/pipeline-config.ts'
import { type ConfigValue, withValue } from '../versions/key-path.ts'

export interface ConfigChange {
  readonly key: KeyPath
  readonly to: ConfigValue
}

/**
 * A configuration of one layer with other values of keys. With several layers `mergeLayers` makes
 * it.
 * @throws ZodError if one does not fit
 */
export function changedConfig(
  { knownViews, layers: _, ...config }: PipelineConfig,
  changes: readonly ConfigChange[],
): PipelineConfig {
  const changed = pipelineSchema.parse(changedTree(config, changes))
  return knownViews === undefined ? changed : { ...changed, knownViews }
}

export function changedTree(tree: Tree, changes: readonly ConfigChange[]): Tree {
  return changes.reduce((before, { key, to }) => withValue(before, key, to), tree)
}
