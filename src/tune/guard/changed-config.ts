import type { KeyPath, Tree } from '../../core/pipeline/profile/key-path.ts'
import { type ConfigValue, withValue } from '../versions/key-path.ts'

export interface ConfigChange {
  readonly key: KeyPath
  readonly to: ConfigValue
}

/** A tree with other values of keys. */
export function changedTree(tree: Tree, changes: readonly ConfigChange[]): Tree {
  return changes.reduce((before, { key, to }) => withValue(before, key, to), tree)
}
