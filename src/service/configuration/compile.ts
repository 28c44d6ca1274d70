import { type AllLayers, readAllLayers } from '../../config/layers/read-all.ts'
import type { LayersPlace } from '../../config/layers/read-layers.ts'
import { ConfigError } from '../../config/read-toml.ts'

/** The configurations of all tenants, or every fault of their files. */
export type Compiled = AllLayers | { readonly faults: readonly string[] }

interface CompileInput {
  readonly place: LayersPlace
  /** The tuned files in force, by tenant. */
  readonly tuned: AllLayers['tuned']
}

/** Reads the files of all layers, in a thread of its own: large ones take some 100 ms. */
export const TASKS = {
  compile({ place, tuned }: CompileInput): Compiled {
    try {
      return readAllLayers(place, tuned)
    } catch (error) {
      if (error instanceof ConfigError) return { faults: error.faults }
      throw error
    }
  },
}
