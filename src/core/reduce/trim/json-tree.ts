import { isScalar } from '../../formats/json/tree/write-text.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { type Totals, totalOf } from '../budget/opening.ts'
import { totalValue } from '../budget/plan.ts'
import { ALL, extraOf, type Form, type KeptPart, type PricedNode } from '../budget/priced-node.ts'
import { isEnvelope } from './field-names.ts'
import { type ItemKind, isThread } from './kinds.ts'
import { isWithin, LEVEL_VALUES, type Level, levelOfField, levelWithin } from './levels.ts'
import type { KeptOf } from './plan-tree.ts'
import type { ThreadRule } from './strategies/strategy.ts'
import { addTextChain, type TreeBuilder } from './tree-builder.ts'

/** Groups of parts of a large container have about this many tokens. */
const GROUP = 32

const nothing: KeptOf = () => null

/** The place at which an item is added to a tree. */
interface ItemPlace {
  readonly kind: ItemKind
  readonly form: Form
  /** Multiplies the value of its fields. */
  readonly factor: number
  /** The node that it goes with. */
  readonly top: number
}

/** The place at which a field is added to a tree. */
interface FieldPlace {
  readonly level: Level
  readonly form: Form
  readonly factor: number
  readonly blocks: Blocks
}

/** The place at which a large container is added to a tree. */
interface LargePlace {
  readonly below: number
  readonly scale: number
  readonly form: Form
}

interface JsonTreeOptions {
  /** Nothing of a higher level is kept. */
  readonly cap: Level
  readonly thread: ThreadRule | undefined
  /** Keys whose value is configured: each field of an item that has one is decided on by itself. */
  readonly weighed: ReadonlyMap<string, number>
}

/** Adds the parts of JSON items to a tree. Recursion is as deep as the value. */
export class JsonTree {
  readonly #builder: TreeBuilder
  readonly #totals: Totals
  readonly #options: JsonTreeOptions

  constructor(builder: TreeBuilder, totals: Totals, options: JsonTreeOptions) {
    this.#builder = builder
    this.#totals = totals
    this.#options = options
  }

  /**
   * Adds an item. The minimal fields are in `top`, the node below has what the standard level adds,
   * the node below that the rest. Long texts, threads and large containers are below these nodes.
   */
  addItem(node: PricedNode, item: Value, place: ItemPlace): KeptOf {
    const { kind, form, factor, top } = place
    const blocks = new LevelBlocks(this.#builder, top)
    const { children } = node
    if (!(item instanceof ObjectValue) || children === undefined) {
      return this.#addField(node, item, { level: 'minimal', form, factor, blocks })
    }
    this.#builder.grow(top, extraOf(node, form) + (form === 'row' ? 0 : node.own), 0)
    const levels = levelsOf(kind, item)
    const isWeighed = item.keys.some(key => this.#options.weighed.has(key))
    const fields = children.map((child, index) => {
      const value = item.values[index]!
      const level = levels[index]!
      blocks.makeRoom(level, totalOf(child, this.#totals) + extraOf(child, form))
      const fieldPlace = {
        level,
        form,
        factor,
        blocks: isWeighed ? new FieldBlock(this.#builder, top) : blocks,
      }
      if (isEnvelope(item.keys[index]!, value) && child.children !== undefined) {
        return this.#addMembers(child, fieldPlace, levelsOf(kind, value), value.values)
      }
      return this.#addField(child, value, fieldPlace)
    })
    return kept => (kept[top] === 1 ? someOf(fields, kept) : null)
  }

  /** Adds a value beside the items below a node: a large one part by part, any other whole. */
  addBeside(node: PricedNode, value: Value, below: number): KeptOf {
    const builder = this.#builder
    const scale = LEVEL_VALUES.standard
    if (node.children !== undefined && totalOf(node, this.#totals) >= LARGE) {
      return this.#addLarge(node, value, { below, scale, form: 'keyed' })
    }
    const extra = extraOf(node, 'keyed')
    if (node.children === undefined) {
      return addTextChain(builder, node, { below, extra, scale, startsInside: false })
    }
    const own = builder.add(below, totalOf(node, this.#totals) + extra, totalValue(node) * scale)
    return kept => (kept[own] === 1 ? ALL : null)
  }

  #addField(node: PricedNode, value: Value, place: FieldPlace): KeptOf {
    const { cap, thread } = this.#options
    const { level, form, factor, blocks } = place
    const { children } = node
    const hasEnds = thread !== undefined && isThread(value)
    if (!isWithin(level, cap) && !hasEnds) return nothing
    if (children === undefined || isScalar(value)) {
      return addTextChain(this.#builder, node, {
        below: blocks.nodeOf(level),
        extra: extraOf(node, form),
        scale: factor * LEVEL_VALUES[level],
        startsInside: level !== 'full' || node.cuts === undefined,
      })
    }
    if (isThread(value)) return this.#addThread(node, value, place)
    if (level !== 'minimal' && totalOf(node, this.#totals) >= LARGE) {
      return this.#addLarge(node, value, {
        below: blocks.nodeOf('standard'),
        scale: factor * LEVEL_VALUES[level],
        form,
      })
    }
    if (!(value instanceof ObjectValue)) {
      const levels = children.map(() => level)
      return this.#addMembers(node, place, levels, value)
    }
    const levels = value.keys.map(key => levelWithin(level, key))
    return this.#addMembers(node, place, withFirst(levels, level), value.values)
  }

  /** Adds a small container, whose members have levels of their own. */
  #addMembers(
    node: PricedNode,
    place: FieldPlace,
    levels: readonly Level[],
    values: readonly Value[],
  ): KeptOf {
    const { level, form, blocks } = place
    this.#builder.grow(blocks.nodeOf(level), node.own + extraOf(node, form), 0)
    const members = (node.children ?? []).map((child, index) =>
      this.#addField(child, values[index]!, { ...place, form: 'keyed', level: levels[index]! }),
    )
    return kept => someOf(members, kept)
  }

  /** Adds the comments of a thread as items in it; by some strategies its ends go with it. */
  #addThread(node: PricedNode, comments: readonly Value[], place: FieldPlace): KeptOf {
    const { thread } = this.#options
    const { level, form, factor, blocks } = place
    const host = blocks.nodeOf(thread === undefined ? level : 'minimal')
    this.#builder.grow(host, node.own + extraOf(node, form), 0)
    const items = comments.map((comment, index) => {
      const isEnd = thread !== undefined && (index === 0 || index === comments.length - 1)
      const weight = thread === undefined || isEnd ? factor : factor * thread.middle
      const child = node.children![index]!
      const top = isEnd ? host : this.#builder.add(host)
      return this.addItem(child, comment, { kind: 'comment', form: 'keyed', factor: weight, top })
    })
    return kept => someOf(items, kept)
  }

  /** Adds a large container: its parts are decided on by themselves, small ones in groups. */
  #addLarge(node: PricedNode, value: Value, place: LargePlace): KeptOf {
    const builder = this.#builder
    const { scale } = place
    const top = builder.add(place.below, node.own + extraOf(node, place.form))
    const values = value instanceof ObjectValue ? value.values : (value as readonly Value[])
    let group = top
    let room = 0
    const parts = (node.children ?? []).map((child, index): KeptOf => {
      const total = totalOf(child, this.#totals)
      if (child.children !== undefined && total >= LARGE) {
        return this.#addLarge(child, values[index]!, { below: top, scale, form: 'keyed' })
      }
      const extra = extraOf(child, 'keyed')
      if (child.cuts !== undefined) {
        return addTextChain(builder, child, { below: top, extra, scale, startsInside: false })
      }
      if (room <= 0) {
        group = builder.add(top)
        room = GROUP
      }
      room -= total + extra
      builder.grow(group, total + extra, totalValue(child) * scale)
      const own = group
      return kept => (kept[own] === 1 ? ALL : null)
    })
    return kept => (kept[top] === 1 ? someOf(parts, kept) : null)
  }
}

/** Levels of an item's fields; an envelope is of the lowest level in it. */
function levelsOf(kind: ItemKind, item: ObjectValue): readonly Level[] {
  const levels = item.keys.map((key, index) => {
    const value = item.values[index]!
    if (!isEnvelope(key, value)) return levelOfField(kind, key, value)
    const inner = value.keys.map((name, at) => levelOfField(kind, name, value.values[at]!))
    return inner.reduce<Level>((low, level) => (isWithin(level, low) ? level : low), 'full')
  })
  return withFirst(levels, 'minimal')
}

/**
 * The lowest level must have a field, because empty brackets would mean that the original was
 * empty.
 */
function withFirst(levels: readonly Level[], level: Level): readonly Level[] {
  return levels.includes(level) ? levels : levels.map((each, index) => (index === 0 ? level : each))
}

/** The kept part of a container, by its parts; `null` if nothing of it is kept. */
export function someOf(parts: readonly KeptOf[], kept: Uint8Array): KeptPart | null {
  const children = parts.map(part => part(kept))
  return children.every(child => child === null) ? null : { kind: 'some', children }
}

/**
 * Containers of this many tokens are decided on part by part, and fields of a level in groups of as
 * many.
 */
const LARGE = 128

/** Finds the node that has the fields of a level of an item. */
interface Blocks {
  nodeOf(level: Level): number
}

/** The nodes of an item's fields, one for each level above the minimal one. */
class LevelBlocks implements Blocks {
  readonly #builder: TreeBuilder
  readonly #top: number
  readonly #nodes: Partial<Record<Level, number>>
  readonly #rooms = { minimal: Number.POSITIVE_INFINITY, standard: LARGE, full: LARGE }
  /** The first node of the standard level; those of the full level go below it. */
  #standard: number | undefined

  /** @param top the node of the minimal level */
  constructor(builder: TreeBuilder, top: number) {
    this.#builder = builder
    this.#top = top
    this.#nodes = { minimal: top }
  }

  nodeOf(level: Level): number {
    const nodes = this.#nodes
    if (level === 'full') {
      nodes.full ??= this.#builder.add(this.#standard ?? this.nodeOf('standard'))
    } else {
      nodes[level] ??= this.#builder.add(this.#top)
    }
    this.#standard ??= nodes.standard
    return nodes[level]!
  }

  /** Makes room for a field. If the fields of its level are many, further ones get a new node. */
  makeRoom(level: Level, tokens: number): void {
    if (this.#rooms[level] <= 0) {
      delete this.#nodes[level]
      this.#rooms[level] = LARGE
    }
    // A large field gets a node of its own.
    if (tokens < LARGE) this.#rooms[level] -= tokens
  }
}

/** One node below `top` for all levels of a field, added when it is first needed. */
class FieldBlock implements Blocks {
  readonly #builder: TreeBuilder
  readonly #top: number
  #node: number | undefined

  constructor(builder: TreeBuilder, top: number) {
    this.#builder = builder
    this.#top = top
  }

  nodeOf(): number {
    this.#node ??= this.#builder.add(this.#top)
    return this.#node
  }
}
