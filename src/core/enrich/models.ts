import { BoundedMap } from '../base/bounded-map.ts'
import { namesOf, serverOf } from './tool-names.ts'
import {
  fillModel,
  mergeModels,
  type SideEffect,
  type ToolModel,
  type ToolModels,
  type ValueModel,
} from './value-model.ts'

/** The key for tools that have no model of their own. */
const ANY = '*'

/** Models that are remembered by name. Names come from upstreams, so their number is bounded. */
const REMEMBERED = 10_000

/** Models that come with the package. */
export interface Provider {
  /** Words in the names of servers that have its tools; absent: tools of agents, at any server. */
  readonly servers?: readonly string[]
  readonly models: ToolModels
}

/** What is stated of tools, the weakest first. */
export interface ModelLayers {
  readonly shipped?: readonly Provider[]
  /** From recorded sessions (`tune mine --tools`, rule R7). May forbid, but not permit. */
  readonly mined?: ToolModels
  readonly user?: ToolModels
}

/** A tool's model, and who stated what calls ahead depend on. */
export interface FoundModel {
  readonly model: ValueModel
  /** What the user states of it alone. */
  readonly stated: ToolModel
  /** The class that the user states; for the tool, or for `"*"` if the tool has no model. */
  readonly userClass: SideEffect | undefined
  /** The class that is built in, or a provider's. */
  readonly shippedClass: SideEffect | undefined
  /** Whether the user lists the tool by its name, with a class or with `speculate = true`. */
  readonly isListed: boolean
  /** Whether the user asks for calls ahead: `speculate = true`. */
  readonly isAsked: boolean
  /** Who states `speculate = false`; the user's word is the last one. */
  readonly forbiddenBy: 'user' | 'mined' | undefined
}

/** Models in force. */
export interface Models {
  /**
   * The same object for a tool, as long as it is remembered.
   * @param server that offers the tool; without it, the tool's prefix names one, if it has one
   */
  find(tool: string, server?: string): FoundModel
}

/**
 * Merges built-in ← provider's ← mined ← user's models, field by field. A layer's entry for the
 * exact name wins over that for the name without prefix; `"*"` is for tools without any entry.
 */
export function createModels(layers: ModelLayers): Models {
  const remembered = new BoundedMap<string, FoundModel>(REMEMBERED)
  return {
    find(tool, server) {
      const key = JSON.stringify([tool, server])
      const found = remembered.get(key) ?? findModel(tool, server, layers)
      if (!remembered.has(key)) remembered.set(key, found)
      return found
    },
  }
}

function findModel(
  tool: string,
  server: string | undefined,
  { shipped: providers = [], mined = {}, user = {} }: ModelLayers,
): FoundModel {
  const names = namesOf(tool, server)
  const shipped = providerModels(providers, server ?? serverOf(tool)).map(layer =>
    entryOf(layer, names),
  )
  const own = [...shipped, entryOf(mined, names), entryOf(user, names)]
  const isOwn = own.some(entry => entry !== undefined)
  const used = isOwn ? own : [anyOf(mined), anyOf(user)]
  const merged = used.reduce<ToolModel>((model, entry) => mergeModels(model, entry ?? {}), {})
  const [fromMined, fromUser] = used.slice(-2)
  const named = isOwn ? fromUser : undefined
  return {
    model: fillModel(merged),
    stated: fromUser ?? {},
    userClass: fromUser?.side_effect_class,
    shippedClass: shipped.findLast(entry => entry?.side_effect_class)?.side_effect_class,
    isListed: named?.side_effect_class !== undefined || named?.speculate === true,
    isAsked: fromUser?.speculate === true,
    forbiddenBy: forbiddenBy(fromUser ?? {}, fromMined ?? {}, anyOf(user) ?? {}),
  }
}

/** `"*"` may forbid for all tools; an entry of the tool's own that states otherwise wins. */
function forbiddenBy(user: ToolModel, mined: ToolModel, any: ToolModel): FoundModel['forbiddenBy'] {
  if ((user.speculate ?? any.speculate) === false) return 'user'
  return user.speculate === undefined && mined.speculate === false ? 'mined' : undefined
}

/** What a layer states of a tool, the more exact name over the less exact one. */
function entryOf(layer: ToolModels, names: readonly string[]): ToolModel | undefined {
  const stated = names.filter(name => name !== ANY && Object.hasOwn(layer, name))
  if (stated.length === 0) return undefined
  return stated.reduceRight<ToolModel>((model, name) => mergeModels(model, layer[name] ?? {}), {})
}

function anyOf(layer: ToolModels): ToolModel | undefined {
  return Object.hasOwn(layer, ANY) ? layer[ANY] : undefined
}

/** What agents have at any server, then the models of the first provider that the name names. */
function providerModels(providers: readonly Provider[], server = ''): readonly ToolModels[] {
  const name = server.toLowerCase()
  const named = providers.find(({ servers }) => servers?.some(word => name.includes(word)))
  const anywhere = providers.filter(({ servers }) => servers === undefined)
  return [...anywhere, ...(named === undefined ? [] : [named])].map(({ models }) => models)
}

/**
 * Faults of a user's models that no single field has: `speculate = true` on a tool that is known to
 * change something. One line each, as the configuration reports them.
 */
export function modelFaults(layers: ModelLayers): string[] {
  const models = createModels(layers)
  return Object.entries(layers.user ?? {}).flatMap(([name, { speculate, side_effect_class }]) => {
    if (speculate !== true) return []
    const effect = name === ANY ? side_effect_class : models.find(name).model.side_effect_class
    return effect !== undefined && mutates(effect)
      ? [`tools.${name}.speculate: must not be true, since the tool is ${effect}`]
      : []
  })
}

/** Whether a class says that calls change something. */
export function mutates(effect: SideEffect): boolean {
  return effect === 'mutates_local' || effect === 'mutates_external'
}
