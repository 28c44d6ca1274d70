import { foundByTool } from '../../reduce/trim/resolve-strategy.ts'
import { endpointClass } from '../../telemetry/endpoint-class.ts'
import { own } from './pipeline-config.ts'

/** Ends a name that is for all tools that begin with what is before it. */
const WILDCARD = '*'

/** Settings by the name of a tool, of an endpoint class, or by a pattern. */
type ByName<Entry> = Readonly<Record<string, Entry>>

/** The names by which a call finds its settings. */
export class ToolNames {
  readonly #tool: string | undefined
  readonly #args: unknown
  #class: string | undefined
  /** The entries of each record that was asked, since most are asked for several keys. */
  readonly #entries = new Map<ByName<unknown>, readonly unknown[]>()

  constructor({ tool, args }: { readonly tool?: string | undefined; readonly args?: unknown }) {
    this.#tool = tool
    this.#args = args
  }

  /**
   * What `pick` finds in the most particular entry that has it: that of the tool's name (also
   * without what a proxy puts in front of it), of its endpoint class, of the longest pattern.
   * @returns `undefined` if no entry has it
   */
  find<Entry, T>(record: ByName<Entry>, pick: (entry: Entry) => T | undefined): T | undefined {
    for (const entry of this.#entriesOf(record)) {
      const found = pick(entry)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The entries for the call, the most particular first. */
  #entriesOf<Entry>(record: ByName<Entry>): readonly Entry[] {
    const known = this.#entries.get(record)
    if (known !== undefined) return known as readonly Entry[]
    const patterns = patternsOf(record)
    const entries = patterns === null ? NONE : this.#matching(record, patterns)
    this.#entries.set(record, entries)
    return entries
  }

  #matching<Entry>(record: ByName<Entry>, patterns: readonly string[]): readonly Entry[] {
    const names: string[] = []
    foundByTool(this.#tool, name => void names.push(name))
    names.push(this.#classOf())
    const begun = patterns.filter(pattern => {
      const prefix = pattern.slice(0, -WILDCARD.length)
      return names.some(name => name.startsWith(prefix))
    })
    return [...names, ...begun].flatMap(name => own(record, name) ?? [])
  }

  /** To find the class takes longer than everything else here. */
  #classOf(): string {
    this.#class ??= endpointClass(this.#tool, this.#args)
    return this.#class
  }
}

const NONE: readonly never[] = []

/** The patterns of each record that was asked, the longest first; `null` if it has no entry. */
const known = new WeakMap<ByName<unknown>, readonly string[] | null>()

function patternsOf(record: ByName<unknown>): readonly string[] | null {
  let patterns = known.get(record)
  if (patterns === undefined) {
    const names = Object.keys(record)
    const all = names.filter(name => name.endsWith(WILDCARD))
    patterns = names.length === 0 ? null : all.sort((a, b) => b.length - a.length)
    known.set(record, patterns)
  }
  return patterns
}
