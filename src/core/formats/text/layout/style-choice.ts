import type { Value } from '../../../json/value.ts'
import type { Quote } from '../json-escapes.ts'
import type { KindLayout, Layout, Style } from './layout.ts'
import { flatWidths, type Measured, measure } from './measure.ts'

/** The style of a container whose last character, a comma included, is in this column. */
export function styleByWidth({ styles, width }: KindLayout, column: number): number {
  return styles.length > 1 && width > 0 && column <= width ? 1 : 0
}

/** Remembers the last style of each key, for arrays and for objects. */
export class StylesByKey {
  readonly #arrays = new Map<string, number>()
  readonly #objects = new Map<string, number>()

  get({ isObject, label }: Measured): number {
    return (isObject ? this.#objects : this.#arrays).get(label) ?? 0
  }

  set({ isObject, label }: Measured, style: number): void {
    const styles = isObject ? this.#objects : this.#arrays
    styles.set(label, style)
  }
}

/** The styles that a layout gives to the containers of a value, in the order of the text. */
export class StyleChoice {
  /** Whether `next` needs the column. */
  readonly usesColumns: boolean
  readonly #layout: Layout
  /** Empty if the styles depend neither on keys nor on widths. */
  readonly #all: readonly Measured[]
  readonly #widths: Float64Array
  readonly #byKey = new StylesByKey()
  #number = 0
  #exceptions = 0

  constructor(root: Value, layout: Layout, quote: Quote) {
    const { arrays, objects, byKey, exceptions } = layout
    const byWidth = !byKey && (hasWidth(arrays) || hasWidth(objects))
    this.usesColumns = byWidth
    this.#layout = layout
    this.#all = byKey || byWidth ? measure(root, layout, quote) : []
    this.#widths = flatWidths(byWidth ? this.#all : [], layout, number => {
      const named = exceptions.get(number)
      if (named === undefined) return undefined
      return (this.#all[number]!.isObject ? objects : arrays).styles[named]
    })
  }

  /**
   * The style of the next container; `undefined` if the layout has none for it.
   * @param column characters before it on its line
   */
  next(isObject: boolean, column: number): Style | undefined {
    const { arrays, objects, byKey, exceptions } = this.#layout
    const number = this.#number++
    const kind = isObject ? objects : arrays
    const measured = this.#all[number]
    const named = exceptions.get(number)
    if (named !== undefined) this.#exceptions++
    if (byKey && measured !== undefined) {
      const style = named ?? this.#byKey.get(measured)
      this.#byKey.set(measured, style)
      return kind.styles[style]
    }
    const end = column + (this.#widths[number] ?? 0) + Number(measured?.isFollowed ?? 0)
    return kind.styles[named ?? styleByWidth(kind, end)]
  }

  /** Whether each exception was for a container. */
  get isDone(): boolean {
    return this.#exceptions === this.#layout.exceptions.size
  }
}

/** Whether the width decides about some containers. */
function hasWidth({ styles, width }: KindLayout): boolean {
  return styles.length > 1 && width > 0 && width < Number.POSITIVE_INFINITY
}
