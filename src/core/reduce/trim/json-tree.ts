import { isScalar } from '../../formats/json/tree/write-text.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { type Totals, totalOf } from '../budget/opening.ts'
import { worthOf } from '../budget/plan.ts'
import { ALL, extraOf, type Form, type Kept, type PricedNode } from '../budget/priced-node.ts'
import { isEnvelope } from './field-names.ts'
import { type ItemKind, isThread } from './kinds.ts'
import { isWithin, LEVEL_WORTHS, type Level, levelOfField, levelWithin } from './levels.ts'
import type { KeptOf } from './plan-tree.ts'
import type { ThreadRule } from './strategies/strategy.ts'
import { addTextChain } from './text-chain.ts'
import type { TreeBuilder } from './tree-builder.ts'

/**
 * Containers of this many tokens are decided on part by part, and fields of a level in groups of as
 * many.
 */
const LARGE = 128
/** Parts of them in a row that are decided on together have about this many. */
const GROUP = 32

const nothing: KeptOf = () => null

/** Where an item is added to a tree. */
interface ItemPlace {
  readonly kind: ItemKind
  readonly form: Form
  /** By what the value of its fields is multiplied. */
  readonly factor: number
  /** The node that it goes with. */
  readonly top: number
}

/** Where a field is. */
interface FieldPlace {
  readonly level: Level
  readonly form: Form
  readonly factor: number
  /** The node that has the item's fields of a level. */
  block(level: Level): number
}

/** Adds the parts of JSON items to a tree. */
export interface JsonTree {
  /**
   * An item: the minimal fields go with `top`, below that what the standard level adds, below that
   * the rest; long texts, threads and large containers hang beneath these. Recursion is as deep as
   * the value.
   */
  addItem(node: PricedNode, item: Value, place: ItemPlace): KeptOf
  /** What stands beside the items, part by part, and from `level` on. */
  addBeside(node: PricedNode, value: Value, below: number): KeptOf
}

interface JsonTreeOptions {
  /** Nothing of a higher level is kept. */
  readonly cap: Level
  readonly thread: ThreadRule | undefined
  /** Keys whose value is configured: each field of an item that has one is decided on by itself. */
  readonly weighed: ReadonlyMap<string, number>
}

export function createJsonTree(
  builder: TreeBuilder,
  totals: Totals,
  { cap, thread, weighed }: JsonTreeOptions,
): JsonTree {
  /** One node for all of a field, from when it is needed. */
  function createBlock(below: number): () => number {
    let own: number | undefined
    return () => {
      own ??= builder.add(below)
      return own
    }
  }

  /**
   * A node for the fields of each level above the minimal one; further ones beside it where they
   * are many.
   */
  function createBlocks(top: number) {
    const blocks: Partial<Record<Level, number>> = { minimal: top }
    const rooms = { minimal: Infinity, standard: LARGE, full: LARGE }
    let standard: number | undefined
    const block = (level: Level): number => {
      if (level === 'full') blocks.full ??= builder.add(standard ?? block('standard'))
      else blocks[level] ??= builder.add(top)
      standard ??= blocks.standard
      return blocks[level]!
    }
    const makeRoom = (level: Level, tokens: number): void => {
      if (rooms[level] <= 0) {
        delete blocks[level]
        rooms[level] = LARGE
      }
      // What is large hangs below by itself.
      if (tokens < LARGE) rooms[level] -= tokens
    }
    return { block, makeRoom }
  }

  function addItem(node: PricedNode, item: Value, place: ItemPlace): KeptOf {
    const { kind, form, factor, top } = place
    const { block, makeRoom } = createBlocks(top)
    const { children } = node
    if (!(item instanceof ObjectValue) || children === undefined) {
      return addField(node, item, { level: 'minimal', form, factor, block })
    }
    builder.grow(top, extraOf(node, form) + (form === 'row' ? 0 : node.own), 0)
    const levels = levelsOf(kind, item)
    const isWeighed = item.keys.some(key => weighed.has(key))
    const fields = children.map((child, index) => {
      const value = item.values[index]!
      const level = levels[index]!
      makeRoom(level, totalOf(child, totals) + extraOf(child, form))
      const fieldPlace = {
        level,
        form,
        factor,
        block: isWeighed ? createBlock(top) : block,
      }
      if (isEnvelope(item.keys[index]!, value) && child.children !== undefined) {
        return addMembers(child, fieldPlace, levelsOf(kind, value), value.values)
      }
      return addField(child, value, fieldPlace)
    })
    return kept => (kept[top] === 1 ? someOf(fields, kept) : null)
  }

  function addField(node: PricedNode, value: Value, place: FieldPlace): KeptOf {
    const { level, form, factor, block } = place
    const { children } = node
    const hasEnds = thread !== undefined && isThread(value)
    if (!isWithin(level, cap) && !hasEnds) return nothing
    if (children === undefined || isScalar(value)) {
      return addTextChain(builder, node, {
        below: block(level),
        extra: extraOf(node, form),
        scale: factor * LEVEL_WORTHS[level],
        startsInside: level !== 'full' || node.cuts === undefined,
      })
    }
    if (isThread(value)) return addThread(node, value, place)
    if (level !== 'minimal' && totalOf(node, totals) >= LARGE) {
      return addLarge(node, value, {
        below: block('standard'),
        scale: factor * LEVEL_WORTHS[level],
        form,
      })
    }
    if (!(value instanceof ObjectValue)) {
      return addMembers(
        node,
        place,
        children.map(() => level),
        value,
      )
    }
    const levels = value.keys.map(key => levelWithin(level, key))
    return addMembers(node, place, withFirst(levels, level), value.values)
  }

  /** A small container: its members are of levels of their own. */
  function addMembers(
    node: PricedNode,
    place: FieldPlace,
    levels: readonly Level[],
    values: readonly Value[],
  ): KeptOf {
    const { level, form, block } = place
    builder.grow(block(level), node.own + extraOf(node, form), 0)
    const members = (node.children ?? []).map((child, index) =>
      addField(child, values[index]!, { ...place, form: 'keyed', level: levels[index]! }),
    )
    return kept => someOf(members, kept)
  }

  /** The comments of a thread are items in it; by some strategies its ends go with it. */
  function addThread(node: PricedNode, comments: readonly Value[], place: FieldPlace): KeptOf {
    const { level, form, factor, block } = place
    const host = block(thread === undefined ? level : 'minimal')
    builder.grow(host, node.own + extraOf(node, form), 0)
    const items = comments.map((comment, index) => {
      const isEnd = thread !== undefined && (index === 0 || index === comments.length - 1)
      const weight = thread === undefined || isEnd ? factor : factor * thread.middle
      const child = node.children![index]!
      const top = isEnd ? host : builder.add(host)
      return addItem(child, comment, { kind: 'comment', form: 'keyed', factor: weight, top })
    })
    return kept => someOf(items, kept)
  }

  /** A large container: its parts are decided on by themselves, small ones in groups. */
  function addLarge(
    node: PricedNode,
    value: Value,
    place: { readonly below: number; readonly scale: number; readonly form: Form },
  ): KeptOf {
    const { scale } = place
    const top = builder.add(place.below, node.own + extraOf(node, place.form))
    const values = value instanceof ObjectValue ? value.values : (value as readonly Value[])
    let group = top
    let room = 0
    const parts = (node.children ?? []).map((child, index): KeptOf => {
      const total = totalOf(child, totals)
      if (child.children !== undefined && total >= LARGE) {
        return addLarge(child, values[index]!, { below: top, scale, form: 'keyed' })
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
      builder.grow(group, total + extra, worthOf(child) * scale)
      const own = group
      return kept => (kept[own] === 1 ? ALL : null)
    })
    return kept => (kept[top] === 1 ? someOf(parts, kept) : null)
  }

  return {
    addItem,
    addBeside(node, value, below) {
      const scale = LEVEL_WORTHS.standard
      if (node.children !== undefined && totalOf(node, totals) >= LARGE) {
        return addLarge(node, value, { below, scale, form: 'keyed' })
      }
      const extra = extraOf(node, 'keyed')
      if (node.children === undefined) {
        return addTextChain(builder, node, { below, extra, scale, startsInside: false })
      }
      const own = builder.add(below, totalOf(node, totals) + extra, worthOf(node) * scale)
      return kept => (kept[own] === 1 ? ALL : null)
    },
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
 * Something must be there at the lowest level: brackets with nothing in them would say that there
 * was nothing.
 */
function withFirst(levels: readonly Level[], level: Level): readonly Level[] {
  return levels.includes(level) ? levels : levels.map((each, index) => (index === 0 ? level : each))
}

/** `null` where nothing is kept of any. */
export function someOf(parts: readonly KeptOf[], kept: Uint8Array): Kept | null {
  const children = parts.map(part => part(kept))
  return children.every(child => child === null) ? null : { kind: 'some', children }
}
