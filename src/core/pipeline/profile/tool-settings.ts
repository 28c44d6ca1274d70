import { foundByTool } from '../../reduce/trim/resolve-strategy.ts'
import { anonymousName } from '../../telemetry/anonymous-name.ts'
import { endpointClass } from '../../telemetry/endpoint-class.ts'
import { BUILT_IN_AGENTS, DEFAULT_PIPELINE } from './default-pipeline.ts'
import { own } from './key-path.ts'
import type { LayerSettings, PipelineConfig } from './pipeline-config.ts'
import { TOOL_KEY_NAMES, TOOL_KEYS, type ToolKey, type ToolValues } from './tool-keys.ts'

type Values = Partial<ToolValues>

/** What one layer says under one name, of a variant, or for all tools. */
export interface SettingsEntry {
  readonly values: Values
  /** Index of the layer, from the latest on. */
  readonly layer: number
  readonly of: 'name' | 'agent' | 'data' | 'section'
  /** The name, or that of the variant; empty for a section. */
  readonly name: string
}

/** A call, and the variants that are in force for it. */
export interface SettingsQuery extends NamedCall {
  readonly agent: string
  readonly data: string | undefined
}

/** What is set for one call, by the later layer, and in it by the more particular name. */
export class ToolSettings {
  /** The ones that take precedence first. */
  readonly entries: readonly SettingsEntry[]

  constructor(config: PipelineConfig, query: SettingsQuery) {
    const compiled = compiledOf(config)
    const names = compiled.hasNames ? namesOf(query) : NO_NAMES
    this.entries = entriesIn(compiled, names, query)
  }

  /** The value in force; `undefined` if nothing has the key. */
  get<Key extends ToolKey>(key: Key): ToolValues[Key] | undefined {
    for (const { values } of this.entries) {
      const value = values[key]
      if (value !== undefined) return value
    }
    return undefined
  }

  /** All values of a key, the one in force first. */
  all<Key extends ToolKey>(key: Key): readonly ToolValues[Key][] {
    return this.entries.map(({ values }) => values[key]).filter(value => value !== undefined)
  }
}

const NO_NAMES: readonly string[] = []
/** Calls whose entries are remembered for a configuration. */
const MAX_KNOWN = 512
/** Clients choose names: longer ones are not remembered. */
const MAX_CHARS = 1_024

function entriesIn(
  { layers, known }: Compiled,
  names: readonly string[],
  query: SettingsQuery,
): readonly SettingsEntry[] {
  const find = () => {
    const found: SettingsEntry[] = []
    for (const layer of layers) layer.collect(names, query, found)
    return found
  }
  if (known === null) return find()
  const id = [query.agent, query.data, ...names].join('\0')
  let entries = known.get(id)
  if (entries === undefined) {
    if (known.size >= MAX_KNOWN) known.clear()
    entries = find()
    if (id.length <= MAX_CHARS) known.set(id, entries)
  }
  return entries
}

/** A configuration's layers, the latest first; the built-in one comes last. */
function layersOf(config: PipelineConfig): readonly LayerSettings[] {
  return config.layers === undefined ? [config] : [...config.layers, DEFAULT_PIPELINE]
}

interface Compiled {
  readonly layers: readonly CompiledLayer[]
  readonly hasNames: boolean
  /**
   * What was found, if there are several layers: then it is one tenant's configuration. In one that
   * tenants share, the time would reveal to one what another calls.
   */
  readonly known: Map<string, readonly SettingsEntry[]> | null
}

const compiled = new WeakMap<PipelineConfig, Compiled>()

function compiledOf(config: PipelineConfig): Compiled {
  let known = compiled.get(config)
  if (known === undefined) {
    const all = layersOf(config)
    const { active } = config.profiles.agent
    // A built-in variant counts as part of the layer that makes it active.
    const chooses = all.findIndex(({ profiles }) => profiles?.agent?.active === active)
    const layers = all.map((settings, at) => new CompiledLayer(settings, at, at === chooses))
    const hasNames = layers.some(each => each.hasNames)
    known = { layers, hasNames, known: config.layers === undefined ? null : new Map() }
    compiled.set(config, known)
  }
  return known
}

class CompiledLayer {
  readonly hasNames: boolean
  readonly #settings: LayerSettings
  readonly #layer: number
  readonly #hasBuiltIn: boolean
  readonly #byName: ReadonlyMap<string, SettingsEntry>
  readonly #patterns: NamePatterns<SettingsEntry>
  readonly #section: SettingsEntry | null
  /** By variant. These are named in the configuration only, so there are few. */
  readonly #agents = new Map<string, SettingsEntry | null>()
  readonly #ofData = new Map<string, SettingsEntry | null>()

  constructor(settings: LayerSettings, layer: number, hasBuiltIn: boolean) {
    this.#settings = settings
    this.#layer = layer
    this.#hasBuiltIn = hasBuiltIn
    const byName = valuesByName(settings)
    const entries = [...byName].map(([name, values]) => {
      return [name, { values, layer, of: 'name', name }] as const
    })
    this.hasNames = entries.length > 0
    this.#byName = new Map(entries)
    this.#patterns = new NamePatterns(entries.filter(([name]) => name.endsWith(WILDCARD)))
    const values = sectionValues(settings)
    this.#section = entryOf({ values, layer, of: 'section', name: '' })
  }

  /** Adds the layer's entries for a call to those found, the most particular first. */
  collect(names: readonly string[], { agent, data }: SettingsQuery, found: SettingsEntry[]): void {
    if (this.hasNames) {
      const fitting = new Set<SettingsEntry>()
      for (const name of names) {
        const entry = this.#byName.get(name)
        if (entry !== undefined) found.push(entry)
        this.#patterns.collect(name, fitting)
      }
      const patterns = fitting.size > 1 ? [...fitting].sort(moreParticular) : fitting
      for (const item of patterns) found.push(item)
    }
    const ofAgent = this.#agent(agent)
    if (ofAgent !== null) found.push(ofAgent)
    const ofData = data === undefined ? null : this.#data(data)
    if (ofData !== null) found.push(ofData)
    if (this.#section !== null) found.push(this.#section)
  }

  #agent(name: string): SettingsEntry | null {
    return known(this.#agents, name, () => {
      const variant = {
        ...(this.#hasBuiltIn ? own(BUILT_IN_AGENTS, name) : {}),
        ...own(this.#settings.profiles?.agent?.variants ?? {}, name),
      }
      const values = valuesAt(key => own(variant, TOOL_KEYS[key].agent))
      return entryOf({ values, layer: this.#layer, of: 'agent', name })
    })
  }

  #data(name: string): SettingsEntry | null {
    return known(this.#ofData, name, () => {
      const variant = own(this.#settings.profiles?.data?.variants ?? {}, name) ?? {}
      const values = valuesAt(key => own(variant as Tree, TOOL_KEYS[key].data))
      return entryOf({ values, layer: this.#layer, of: 'data', name })
    })
  }
}

/** The entry of a name, made once. */
function known(
  entries: Map<string, SettingsEntry | null>,
  name: string,
  make: () => SettingsEntry | null,
): SettingsEntry | null {
  let entry = entries.get(name)
  if (entry === undefined) {
    entry = make()
    entries.set(name, entry)
  }
  return entry
}

function moreParticular(a: SettingsEntry, b: SettingsEntry): number {
  return rankOf(b.name) - rankOf(a.name)
}

type Tree = Readonly<Record<string, unknown>>

function entryOf(entry: SettingsEntry): SettingsEntry | null {
  return Object.keys(entry.values).length === 0 ? null : entry
}

/** The values that `read` finds, without keys that it does not. */
function valuesAt(read: (key: ToolKey) => unknown): Values {
  const found = TOOL_KEY_NAMES.flatMap(key => {
    const value = read(key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(found)
}

function sectionValues(settings: LayerSettings): Values {
  return valuesAt(key => {
    const { section } = TOOL_KEYS[key]
    return section === undefined ? undefined : (settings as Sections)[section[0]]?.[section[1]]
  })
}

type Sections = Readonly<Record<string, Tree | undefined>>

/** By name; `endpoint_overrides` takes precedence over the records of sections. */
function valuesByName(settings: LayerSettings): ReadonlyMap<string, Values> {
  const byName = new Map<string, Values>()
  for (const key of TOOL_KEY_NAMES) {
    const { record } = TOOL_KEYS[key]
    const values = record === undefined ? undefined : (settings as Sections)[record[0]]?.[record[1]]
    for (const [name, value] of Object.entries(values ?? {})) {
      byName.set(name, { ...byName.get(name), [key]: value })
    }
  }
  for (const [name, values] of Object.entries(settings.endpoint_overrides ?? {})) {
    byName.set(name, { ...byName.get(name), ...(values as Values) })
  }
  return byName
}

const MCP = 'mcp__'
const SEPARATOR = '__'
/** The server of an MCP tool, in the clear or as telemetry writes it, and what follows. */
const OF_SERVER = /^mcp__(p[0-9a-f]{6}|.+?)__(.*)$/s
/** As long as every server's name is that telemetry writes. */
const HASHED_SERVER = 'p123456'

/** The call by which settings are found. */
interface NamedCall {
  readonly tool?: string | undefined
  readonly args?: unknown
}

/**
 * The names that a call may have settings by, the most particular first: that of its tool, also
 * without what gateways put in front of it, then its endpoint class.
 */
function namesOf({ tool, args }: NamedCall): readonly string[] {
  const names: string[] = []
  const classes = [endpointClass(tool, args)]
  foundByTool(tool, name => {
    if (!names.includes(name)) names.push(name)
    if (name === tool || name.startsWith(MCP) || !name.includes(SEPARATOR)) return
    // A gateway in front of a server's tool: `mcp__gateway__github__list`.
    const ofServer = MCP + name
    if (ofServer === tool) return
    names.push(ofServer)
    classes.push(anonymousName(ofServer))
  })
  return [...names, ...classes]
}

/**
 * How particular a pattern is: the longer, the more. The name of an MCP server counts alike in the
 * clear and as telemetry writes it.
 */
function rankOf(pattern: string): number {
  const ofServer = OF_SERVER.exec(pattern.slice(0, -WILDCARD.length))
  if (ofServer === null) return pattern.length
  const [, , rest = ''] = ofServer
  return `${MCP}${HASHED_SERVER}${SEPARATOR}${rest}${WILDCARD}`.length
}

/** Ends a name that is for all names that begin with what is before it. */
const WILDCARD = '*'

interface Pattern<T> {
  readonly prefix: string
  readonly value: T
  /** The longest other pattern that this one begins with. */
  readonly parent: Pattern<T> | null
}

/** Patterns that end in `*`, to be found by a name. Their number hardly matters for the time. */
class NamePatterns<T> {
  /** In the order of their prefixes. */
  readonly #sorted: readonly Pattern<T>[]

  /** @param byPattern values by their patterns, each with `*` at its end */
  constructor(byPattern: Iterable<readonly [pattern: string, value: T]>) {
    const prefixes = [...byPattern]
      .map(([pattern, value]) => ({ prefix: pattern.slice(0, -WILDCARD.length), value }))
      .sort((a, b) => (a.prefix < b.prefix ? -1 : 1))
    const sorted: Pattern<T>[] = []
    for (const { prefix, value } of prefixes) {
      let parent: Pattern<T> | null = sorted.at(-1) ?? null
      while (parent !== null && !prefix.startsWith(parent.prefix)) parent = parent.parent
      sorted.push({ prefix, value, parent })
    }
    this.#sorted = sorted
  }

  /** Adds the values of all patterns that fit the name to `into`, that of the longest first. */
  collect(name: string, into: Set<T>): void {
    // All that lies between a prefix of the name and the name begins with that prefix. So the
    // patterns that fit are ancestors of the last one that is not after the name.
    let pattern = this.#lastUpTo(name)
    while (pattern !== null && !name.startsWith(pattern.prefix)) pattern = pattern.parent
    for (; pattern !== null; pattern = pattern.parent) into.add(pattern.value)
  }

  #lastUpTo(name: string): Pattern<T> | null {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sorted[middle]!.prefix <= name) low = middle + 1
      else high = middle
    }
    return low === 0 ? null : this.#sorted[low - 1]!
  }
}
