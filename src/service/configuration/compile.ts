import { basename, sep } from 'node:path'
import {
  type ExplainedKey,
  explainCall,
  explainLayers,
} from '../../config/layers/explain-layers.ts'
import { type AllLayers, projectsIn, readAllLayers } from '../../config/layers/read-all.ts'
import { type LayersPlace, readLayers } from '../../config/layers/read-layers.ts'
import { ConfigError } from '../../config/read-toml.ts'
import { AppError } from '../../core/base/errors.ts'
import type { ConfigAnswer, ConfigOf, ConfigQuery } from '../../core/contract/config.ts'

/** The configurations of all tenants, or every fault of their files. */
export type Compiled = AllLayers | { readonly faults: readonly string[] }

interface ExplainInput extends ConfigOf {
  readonly place: LayersPlace
  readonly query: ConfigQuery
}

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

  explain({ place, tenant, project, query }: ExplainInput): Omit<ConfigAnswer, 'generation'> {
    const args = argsOf(query)
    const own = projectsIn(place, tenant).find(each => each === project)
    try {
      const layered = readLayers(place, { tenant, project: own })
      const isOfCall = (query.tool ?? query.model ?? query.args) !== undefined
      const keys = isOfCall ? explainCall(layered, { ...query, args }) : explainLayers(layered)
      return { faults: layered.tunedFaults.map(withoutFolder), keys: keys.map(inAnswer) }
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return { faults: error.faults.map(withoutFolder), keys: [] }
    }
  },
}

/** @throws AppError `invalid_request` if they are not JSON */
function argsOf({ args }: ConfigQuery): unknown {
  if (args === undefined) return undefined
  try {
    return JSON.parse(args)
  } catch {
    throw new AppError('invalid_request', 'args: must be JSON')
  }
}

/** Where files are is not for tenants. */
function inAnswer({ losing, ...key }: ExplainedKey): ConfigAnswer['keys'][number] {
  return { ...withName(key), losing: losing.map(withName) }
}

function withName<Placed extends { readonly file?: string }>(placed: Placed): Placed {
  return placed.file === undefined ? placed : { ...placed, file: basename(placed.file) }
}

/** A fault begins with its file. */
function withoutFolder(fault: string): string {
  const end = fault.indexOf('.toml:')
  return end === -1 ? fault : fault.slice(fault.lastIndexOf(sep, end) + 1)
}
