import { ObjectValue, type Value } from '../../json/value.ts'
import { ALL, type KeptPart } from '../budget/priced-node.ts'
import { markItems } from '../elide/rank-items.ts'
import { BULK } from '../elide/reducer.ts'
import type { CompiledRules } from './compile-views.ts'
import type { PathState } from './globs.ts'
import {
  type EmptyFields,
  emptyFields,
  hasFailed,
  isNamed,
  type Named,
  tellsFailure,
} from './view-facts.ts'
import type { RuleData } from './view-schema.ts'

/** What a view shows of a value. */
export interface ShownValue {
  readonly kept: KeptPart
  /** Names of the fields that go, and how often each does. */
  readonly names: ReadonlyMap<string, number>
  /** Items of the lists among them that a view only counts, by the same names. */
  readonly items: ReadonlyMap<string, number>
}

/** So many of the items of a list may stay because the arguments name them. */
const NAMED_SHARE = 0.2
/** A text is not cut for less. */
const LEAST_CUT_CHARS = 40

/** How the members of a place are treated. */
interface ViewTarget {
  readonly state: PathState
  readonly empty: EmptyFields | null
  /** Rules with `keep` that have not met one of their fields yet. */
  readonly under: readonly number[]
}

/**
 * The part of a value that the rules show. Failed items, fields that tell of a failure, and what
 * the call's arguments name stay.
 * @returns `null` if nothing goes, or nothing would stay
 */
export function applyView(value: Value, compiled: CompiledRules, named: Named): ShownValue | null {
  const names = new Map<string, number>()
  const items = new Map<string, number>()
  const walk = new ViewWalk(value, compiled, named, { names, items })
  const kept = walk.run()
  return kept === null || kept === ALL ? null : { kept, names, items }
}

/** What went so far. */
interface Gone {
  readonly names: Map<string, number>
  readonly items: Map<string, number>
}

class ViewWalk {
  readonly #value: Value
  readonly #compiled: CompiledRules
  readonly #named: Named
  readonly #gone: Gone
  readonly #isOff: readonly boolean[]

  constructor(value: Value, compiled: CompiledRules, named: Named, gone: Gone) {
    this.#value = value
    this.#compiled = compiled
    this.#named = named
    this.#gone = gone
    this.#isOff = compiled.rules.map(rule => isExcepted(value, rule))
  }

  run(): KeptPart | null {
    const { rules, matcher, needsEmpty } = this.#compiled
    const empty = needsEmpty ? emptyFields(this.#value) : null
    const under = rules.flatMap((rule, at) =>
      rule.keep !== undefined && rule.in === undefined && !this.#isOff[at] ? [at] : [],
    )
    if (hasFailed(this.#value)) return ALL
    return this.#walk(this.#value, { state: matcher.start, empty, under })
  }

  #walk(value: Value, place: ViewTarget): KeptPart | null {
    if (value instanceof ObjectValue) {
      return someOf(value.values.map((member, at) => this.#member(value.keys[at]!, member, place)))
    }
    if (Array.isArray(value)) return someOf(value.map(item => this.#item(item, place)))
    return ALL
  }

  #item(item: Value, place: ViewTarget): KeptPart | null {
    return hasFailed(item) ? ALL : this.#walk(item, place)
  }

  #member(key: string, member: Value, { state, empty, under }: ViewTarget): KeptPart | null {
    const next = this.#compiled.matcher.step(state, key)
    const isContainer = member instanceof ObjectValue || Array.isArray(member)
    if (next.places.length === 0 && under.length === 0) return ALL
    const found = this.#rulesFor(next, key, member, empty)
    const stays = this.#staysUnder(next, under, isContainer)
    if (found.goes || stays === null) return this.#drop(key, member, found.isCounted)
    if (typeof member === 'string') return this.#cut(key, member, found.text)
    if (!isContainer) return ALL
    const inner = {
      state: next,
      empty: empty?.at(key) ?? null,
      under: found.within.length === 0 ? stays : [...stays, ...found.within],
    }
    const items =
      found.items === null ? null : this.#itemsOf(member as readonly Value[], found.items)
    if (items === null) {
      const kept = this.#walk(member, inner)
      if (kept === null) this.#note(key)
      return kept
    }
    this.#note(`${key}[]`)
    return someOf(
      (member as readonly Value[]).map((item, at) => (items[at] ? this.#item(item, inner) : null)),
    )
  }

  /** What the globs that match a member do to it. */
  #rulesFor(next: PathState, key: string, member: Value, empty: EmptyFields | null) {
    const found = {
      goes: false,
      isCounted: false,
      text: 0,
      items: null as RuleData | null,
      within: [] as number[],
    }
    for (const glob of next.accepts) {
      const { does, rule, value } = this.#compiled.globs[glob]!
      if (this.#isOff[rule]) continue
      if (does === 'drop') found.goes = true
      else if (does === 'empty') found.goes ||= empty?.isEmpty(key) === true
      else if (does === 'constant') found.goes ||= member === value
      else if (does === 'count') {
        found.isCounted = Array.isArray(member) && member.length > 0
        found.goes ||= found.isCounted
      } else if (does === 'items' && Array.isArray(member))
        found.items = this.#compiled.rules[rule]!
      else if (does === 'text') found.text = this.#compiled.rules[rule]!.chars
      else if (does === 'in') found.within.push(rule)
    }
    return found
  }

  /** The rules that still look for their fields below; `null` if the member is none of theirs. */
  #staysUnder(next: PathState, under: readonly number[], isContainer: boolean) {
    const { globs } = this.#compiled
    const looking: number[] = []
    for (const rule of under) {
      const isOf = (glob: number) => globs[glob]!.rule === rule && globs[glob]!.does === 'keep'
      if ([...next.accepts].some(isOf)) continue
      if (!isContainer || ![...next.leads].some(isOf)) return null
      looking.push(rule)
    }
    return looking
  }

  #drop(key: string, member: Value, isCounted: boolean): KeptPart | null {
    if (this.#named.words.has(key) || tellsFailure(key, member)) return ALL
    const kept = this.#onlyNamed(member)
    if (kept !== ALL) this.#note(key)
    if (kept !== ALL && isCounted) addTo(this.#gone.items, key, (member as readonly Value[]).length)
    return kept
  }

  /** Keeps of what goes only the values that the arguments name. */
  #onlyNamed(value: Value): KeptPart | null {
    if (value instanceof ObjectValue) {
      return someOf(
        value.values.map((member, at) =>
          this.#named.words.has(value.keys[at]!) ? ALL : this.#onlyNamed(member),
        ),
        null,
      )
    }
    if (Array.isArray(value))
      return someOf(
        value.map(item => this.#onlyNamed(item)),
        null,
      )
    return isNamed(value, this.#named) ? ALL : null
  }

  #cut(key: string, text: string, chars: number): KeptPart {
    if (chars === 0 || text.length < chars + LEAST_CUT_CHARS || isNamed(text, this.#named))
      return ALL
    this.#note(key)
    return { kind: 'cut', chars }
  }

  /** Which items of a list stay; `null`: all. */
  #itemsOf(items: readonly Value[], { first, last, outlying }: RuleData): boolean[] | null {
    if (items.length <= first + last + 1) return null
    const ranks = outlying ? markItems(items) : new Uint8Array(items.length)
    const isNamedItem = items.map(item => this.#mentions(item, 0))
    const isRare = isNamedItem.filter(Boolean).length <= Math.max(1, items.length * NAMED_SHARE)
    const stays = items.map(
      (item, at) =>
        at < first ||
        at >= items.length - last ||
        ranks[at] !== BULK ||
        hasFailed(item) ||
        (isRare && isNamedItem[at]!),
    )
    return stays.every(Boolean) ? null : stays
  }

  #mentions(value: Value, level: number): boolean {
    if (value instanceof ObjectValue || Array.isArray(value)) {
      const inner = value instanceof ObjectValue ? value.values : value
      return level < 3 && inner.some(each => this.#mentions(each, level + 1))
    }
    return isNamed(value, this.#named)
  }

  #note(name: string): void {
    addTo(this.#gone.names, name, 1)
  }
}

function addTo(sums: Map<string, number>, name: string, count: number): void {
  sums.set(name, (sums.get(name) ?? 0) + count)
}

/** Whether a rule's exception is in force, or its figures are not there. */
function isExcepted(value: Value, { unless }: RuleData): boolean {
  if (unless === undefined) return false
  const field = figureAt(value, unless.field)
  const of = figureAt(value, unless.of)
  return field === null || of === null || !(of > 0) || field < of * unless.below
}

function figureAt(value: Value, place: string): number | null {
  let inner: Value | undefined = value
  for (const step of place.split('.')) {
    if (!(inner instanceof ObjectValue)) return null
    inner = inner.values[inner.keys.indexOf(step)]
  }
  return typeof inner === 'number' ? inner : null
}

/** The children that stay; `none` if there are none, as for an empty object. */
function someOf(
  children: readonly (KeptPart | null)[],
  none: KeptPart | null = ALL,
): KeptPart | null {
  if (children.length === 0) return none
  if (children.every(child => child === ALL)) return ALL
  return children.every(child => child === null) ? null : { kind: 'some', children }
}
