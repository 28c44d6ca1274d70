import { createLocalContext } from '../../src/library/local-context.ts'
import type { DataSet } from './data-set.ts'
import { hardSets } from './hard-sets.ts'
import { jsonSets } from './json-sets.ts'
import { elidedLog } from './session-sets.ts'
import { textSets } from './text-sets.ts'

/** The same data in every run: what a model is asked must not change between runs. */
export function dataSets(): readonly DataSet[] {
  const counter = createLocalContext().counters.get('o200k_base')
  return [...jsonSets(counter), ...textSets(counter), elidedLog(), ...hardSets()]
}
