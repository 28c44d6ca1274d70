import {
  type KeyPath,
  leavesOf,
  startsWith,
  type Tree,
} from '../../core/pipeline/profile/key-path.ts'

/** A repository's file may have these, and what is below them. */
const ALLOWED: readonly KeyPath[] = [
  ['schema_version'],
  ['dedup'],
  ['templates'],
  ['mckp'],
  ['profiles', 'data'],
  ['hints'],
  ['endpoint_overrides'],
  ['elision', 'enabled'],
]

/** Keys that could leave out parts of results: such a file may only switch them off. */
const ONLY_OFF: readonly KeyPath[] = [
  ['elision', 'enabled'],
  ['hints', 'enabled'],
  ['hints', 'types', 'elision', 'enabled'],
  ['endpoint_overrides', '*', 'elision_enabled'],
]

/** How much elision leaves out; none of it can be said by switching it off. */
const NEVER: readonly KeyPath[] = [
  ['hints', 'types', 'elision', 'max_per_session'],
  ['hints', 'types', 'elision', 'applies_to_models'],
  ['endpoint_overrides', '*', 'max_ratio'],
  ['endpoint_overrides', '*', 'max_result_tokens'],
  ['endpoint_overrides', '*', 'elision_min_saved_tokens'],
]

/**
 * What a repository's file may not say: each of its authors would say it to all who work there.
 */
export function projectFaults(tree: Tree): readonly Fault[] {
  return leavesOf(tree).flatMap(path => {
    const value = path.reduce<unknown>((inner, name) => (inner as Tree)[name], tree)
    const isAllowed = ALLOWED.some(start => startsWith(path, start))
    if (!isAllowed || NEVER.some(start => startsWith(path, start))) {
      return [
        { path, text: 'is not for a file in a repository; see docs/reference/configuration.md' },
      ]
    }
    if (value !== false && ONLY_OFF.some(start => startsWith(path, start))) {
      return [{ path, text: 'can only be switched off by a file in a repository' }]
    }
    return []
  })
}

/** A fault of a value, and the path of its key. */
export interface Fault {
  readonly path: readonly PropertyKey[]
  readonly text: string
}
