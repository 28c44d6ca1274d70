import type { Level } from './levels.ts'
import type { TreeBuilder } from './tree-builder.ts'

/**
 * Containers of this many tokens are decided on part by part, and fields of a level in groups of as
 * many.
 */
export const LARGE = 128

/** Finds the node that has the fields of a level of an item. */
export interface Blocks {
  nodeOf(level: Level): number
}

/** The nodes of an item's fields, one for each level above the minimal one. */
export class LevelBlocks implements Blocks {
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
export class FieldBlock implements Blocks {
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
