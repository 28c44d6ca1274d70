import { Gap } from '../../formats/gaps.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { writePathStep } from '../../json/write-json.ts'
import { cutText } from './cuts.ts'
import { ALL, type KeptPart } from './priced-node.ts'

/** The omissions at one kind of place, for example in every item's `body`. */
export interface Omission {
  /**
   * JSON path of the place, `[:]` for any item; in a text `lines 40-80`. Both can be asked for.
   * Lines of a text in JSON have the path; the marks in it name the lines.
   */
  readonly at: string
  readonly unit: 'items' | 'fields' | 'texts' | 'lines'
  omitted: number
  /** How many there were; absent for parts of which each place has one. */
  readonly of?: number
}

/**
 * Most places that are counted separately, and most missing fields of one object that are named one
 * by one.
 */
const MAX_PLACES = 1_000
const NAMED_FIELDS = 3

/**
 * The part of `value` that is kept, and what was left out by place, in the order of the document.
 * @param isMarked whether lists have a gap in each place where items are missing
 */
export function pruneValue(
  value: Value,
  kept: KeptPart,
  isMarked = false,
): { readonly value: Value; readonly omissions: readonly Omission[] } {
  const pruning = new Pruning(isMarked)
  const pruned = pruning.prune(value, kept, { path: '$', exact: '$', steps: 0, many: false })
  return { value: pruned, omissions: pruning.omissions() }
}

class Pruning {
  readonly #isMarked: boolean
  readonly #omissions = new Map<string, Omission>()

  constructor(isMarked: boolean) {
    this.#isMarked = isMarked
  }

  omissions(): readonly Omission[] {
    return [...this.#omissions.values()]
  }

  prune(inner: Value, part: KeptPart, place: ValuePath): Value {
    if (part.kind === 'all') return inner
    if (part.kind === 'cut') {
      this.#note(place.path, 'texts', 1)
      return cutText(inner as string, part.chars)
    }
    if (part.kind === 'text') {
      for (const { unit, omitted, of } of part.missing) this.#note(place.exact, unit, omitted, of)
      return part.text
    }
    if (inner instanceof ObjectValue) return this.#pruneObject(inner, part.children, place)
    return this.#pruneList(inner as readonly Value[], part.children, place)
  }

  #pruneList(
    items: readonly Value[],
    parts: readonly (KeptPart | null)[],
    place: ValuePath,
  ): readonly Value[] {
    const rest: Value[] = []
    const missing: number[] = []
    let gap = 0
    const mark = () => {
      if (this.#isMarked && gap > 0) rest.push(new Gap(gap))
      gap = 0
    }
    parts.forEach((part, index) => {
      if (part === null) {
        missing.push(index)
        gap++
        return
      }
      mark()
      if (part === ALL) rest.push(items[index]!)
      else rest.push(this.prune(items[index]!, part, itemPlace(place, index)))
    })
    mark()
    const runs = place.many ? [] : runsOf(missing)
    if (runs.length === 0 || runs.length > MAX_RUNS) {
      if (missing.length > 0) this.#noteMissing(place, 'items', missing.length, items.length)
    } else {
      for (const { first, last } of runs) {
        const at = `${place.path}[${first}:${last + 1}]`
        this.#note(at, 'items', last - first + 1, items.length)
      }
    }
    return rest
  }

  #pruneObject(
    inner: ObjectValue,
    parts: readonly (KeptPart | null)[],
    place: ValuePath,
  ): ObjectValue {
    const keys: string[] = []
    const values: Value[] = []
    const missing: string[] = []
    parts.forEach((part, index) => {
      const key = inner.keys[index]!
      if (part === null) missing.push(key)
      else {
        keys.push(key)
        values.push(this.prune(inner.values[index]!, part, memberPlace(place, key)))
      }
    })
    this.#noteFields(place, missing, inner.keys.length)
    return new ObjectValue(keys, values)
  }

  #noteFields(place: ValuePath, missing: readonly string[], of: number): void {
    const isNamed = place.many ? this.#omissions.size < MAX_PLACES : missing.length <= NAMED_FIELDS
    if (isNamed) for (const key of missing) this.#note(memberPlace(place, key).path, 'fields', 1)
    else this.#noteMissing(place, 'fields', missing.length, of)
  }

  /** Counts a missing part together with those at the same kind of place. */
  #noteMissing(
    { path, many }: ValuePath,
    unit: Omission['unit'],
    omitted: number,
    of: number,
  ): void {
    if (many) this.#note(path, unit, omitted)
    else this.#note(path, unit, omitted, of)
  }

  #note(at: string, unit: Omission['unit'], omitted: number, of?: number): void {
    const id = `${unit} ${at}`
    const known = this.#omissions.get(id)
    if (known !== undefined) known.omitted += omitted
    else this.#omissions.set(id, { at, unit, omitted, ...(of === undefined ? {} : { of }) })
  }
}

/** The place of a value, or the nearest one around it that a path can name. */
interface ValuePath {
  readonly path: string
  /** The same with the indexes of items, for parts that are asked for one by one. */
  readonly exact: string
  readonly steps: number
  /** Whether the path represents several values. */
  readonly many: boolean
}

/**
 * Steps of a path, and characters of one step, at most: a marker is one line, and should be a short
 * one.
 */
const MAX_STEPS = 8
const MAX_STEP_CHARS = 40

function itemPlace(list: ValuePath, index: number): ValuePath {
  return { ...within(list, '[:]', `[${index}]`), many: true }
}

function memberPlace(object: ValuePath, key: string): ValuePath {
  return within(object, key.length > MAX_STEP_CHARS ? null : writePathStep(key))
}

function within(outer: ValuePath, step: string | null, exactStep = step): ValuePath {
  const { path, exact, steps, many } = outer
  if (step === null || step.length > MAX_STEP_CHARS || steps === MAX_STEPS) {
    return { path, exact, steps: MAX_STEPS, many: true }
  }
  return { path: path + step, exact: exact + exactStep, steps: steps + 1, many }
}

/** Runs of missing items that are named one by one, each as `?path=` gives it back: `[20:200]`. */
const MAX_RUNS = 16

function runsOf(missing: readonly number[]): { first: number; last: number }[] {
  const runs: { first: number; last: number }[] = []
  for (const index of missing) {
    const run = runs.at(-1)
    if (run?.last === index - 1) run.last = index
    else runs.push({ first: index, last: index })
  }
  return runs
}
