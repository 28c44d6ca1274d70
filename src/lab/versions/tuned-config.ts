import { mergeLayers } from '../../config/layers/merge-layers.ts'
import type { Layered } from '../../config/layers/read-layers.ts'
import { type Tree, valueAt } from '../../core/pipeline/profile/key-path.ts'
import type { LayerSettings, PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { settingsFor } from '../../core/pipeline/profile/resolve.ts'
import { TOOL_KEY_NAMES } from '../../core/pipeline/profile/tool-keys.ts'
import { entryOf } from '../entry-of.ts'
import type { Proposal } from '../rules/proposal.ts'
import { withValue } from './key-path.ts'

/** A key with another value. */
type ConfigChange = Pick<Proposal, 'key' | 'to'>

/** The configuration of layers, with changes in the one that `tune` writes. */
export function createTunedConfig({ layers }: Pick<Layered, 'layers'>) {
  const others = layers.filter(({ name }) => name !== 'tuned')
  const tuned = layers.find(({ name }) => name === 'tuned')
  const known = new Map<string, PipelineConfig>()

  function configWith(changes: readonly ConfigChange[]): PipelineConfig {
    return entryOf(known, JSON.stringify(changes.map(({ key, to }) => [key, to])), () => {
      const before = (tuned?.settings ?? {}) as Tree
      const settings = changes.reduce((tree, { key, to }) => withValue(tree, key, to), before)
      const layer = { name: 'tuned', file: '', source: '', warnings: [] } as const
      return mergeLayers([{ ...layer, settings: settings as LayerSettings }, ...others])
    })
  }

  return {
    configWith,
    /** Whether another layer says something else of the proposal's key. */
    isShadowed(proposal: Proposal): boolean {
      const { key, to, example } = proposal
      const config = configWith([proposal])
      const name = TOOL_KEY_NAMES.find(each => each === key.at(-1))
      const inForce =
        example === undefined || name === undefined
          ? valueAt(config as unknown as Tree, key)
          : settingsFor(config, example).get(name)
      return JSON.stringify(inForce) !== JSON.stringify(to)
    },
  }
}
