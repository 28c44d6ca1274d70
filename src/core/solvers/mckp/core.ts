import { type Certificate, ROUNDING } from './certify.ts'
import type { Reduced } from './reduce.ts'
import type { Relaxation } from './relaxation.ts'

/**
 * Slopes that bound what the classes outside the core can add; rounded so that the bounds stay
 * valid.
 */
export interface Slopes {
  /** Units that a step of cost more brings at most; 0 if no class has a dearer option. */
  readonly up: number
  /** Units that a step of cost less loses at least; Infinity if no class has a cheaper option. */
  readonly down: number
}

/**
 * The classes that may differ from the break solution, in the order in which they come into the
 * core.
 */
export interface Core {
  /** Slopes of the classes that are not taken yet. */
  slopes(needed: number): Slopes
  /** Takes the next class; `null` at the end. */
  next(needed: number): Taken | null
  /**
   * Returns the classes that are not taken, one after the other, those with the largest gains
   * first, without taking them; `null` at the end, after which it begins again.
   */
  borrow(needed: number): Taken | null
}

/** A class that comes into the core; options are indices into the arrays of `Reduced`. */
export interface Taken {
  /** The break solution's pick. */
  readonly picked: number
  /** The others that may be part of a solution with the needed value. */
  readonly others: readonly number[]
}

/**
 * Classes by how close to the price their best other option is, alternately a dearer and a cheaper
 * one (Pisinger 1995, section 4). A class stays unchanged if the gains of all its other options
 * rule them out.
 */
export function createCore(
  { classes, starts, costs, values }: Reduced,
  { picks }: Relaxation,
  { gains, bound }: Certificate,
  needed: number,
): Core {
  const members: number[] = []
  const dearer: number[] = []
  const cheaper: number[] = []
  const largestGains: number[] = []
  for (let i = 0; i < classes; i++) {
    const picked = picks[i]!
    let up = 0
    let down = Infinity
    let largest = -Infinity
    for (let j = starts[i]!, end = starts[i + 1]!; j < end; j++) {
      if (j === picked || bound + gains[j]! < needed) continue
      if (gains[j]! > largest) largest = gains[j]!
      const slope = (values[j]! - values[picked]!) / (costs[j]! - costs[picked]!)
      if (j > picked) up = Math.max(up, slope)
      else down = Math.min(down, slope)
    }
    if (largest === -Infinity) continue
    members.push(i)
    largestGains.push(largest)
    dearer.push(-up)
    cheaper.push(down)
  }
  const taken = new Uint8Array(members.length)
  const byUp = createHeap(Float64Array.from(dearer))
  const byDown = createHeap(Float64Array.from(cheaper))
  let isUpNext = true
  let byGain: number[] | undefined
  let turn = 0

  function isOpen(member: number, target: number): boolean {
    return taken[member] === 0 && bound + largestGains[member]! >= target
  }

  /** The first of a heap that is neither taken nor ruled out. */
  function first(heap: Heap, target: number): number | undefined {
    for (;;) {
      const member = heap.peek()
      if (member === undefined) return undefined
      if (isOpen(member, target)) return member
      heap.pop()
    }
  }

  function optionsOf(member: number, target: number): Taken {
    const i = members[member]!
    const picked = picks[i]!
    const others: number[] = []
    for (let j = starts[i]!; j < starts[i + 1]!; j++) {
      if (j !== picked && bound + gains[j]! >= target) others.push(j)
    }
    return { picked, others }
  }

  return {
    slopes(target) {
      const [up, down] = [first(byUp, target), first(byDown, target)]
      return {
        up: up === undefined ? 0 : -dearer[up]! * (1 + ROUNDING),
        down: down === undefined ? Infinity : cheaper[down]! * (1 - ROUNDING),
      }
    },
    next(target) {
      const member = first(isUpNext ? byUp : byDown, target)
      isUpNext = !isUpNext
      if (member === undefined) return null
      taken[member] = 1
      return optionsOf(member, target)
    },
    borrow(target) {
      byGain ??= members
        .map((_, member) => member)
        .sort((a, b) => largestGains[b]! - largestGains[a]! || a - b)
      while (turn < byGain.length) {
        const member = byGain[turn++]!
        if (isOpen(member, target)) return optionsOf(member, target)
      }
      turn = 0
      return null
    },
  }
}

/**
 * Numbers `0 … keys.length - 1` by rising key, the smaller number first among equals; taken off one
 * by one.
 */
interface Heap {
  /** The first; undefined if there is none. */
  peek(): number | undefined
  /** Takes the first off. */
  pop(): void
}

/** A binary heap, made in linear time. The keys must not change. */
export function createHeap(keys: Float64Array): Heap {
  const items = Uint32Array.from(keys, (_, i) => i)
  let size = items.length
  for (let at = (size >> 1) - 1; at >= 0; at--) sink(at)

  function isBefore(a: number, b: number): boolean {
    const [first, second] = [keys[a]!, keys[b]!]
    return first < second || (first === second && a < b)
  }

  function sink(start: number): void {
    const item = items[start]!
    let at = start
    for (;;) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && isBefore(items[child + 1]!, items[child]!)) child++
      if (!isBefore(items[child]!, item)) break
      items[at] = items[child]!
      at = child
    }
    items[at] = item
  }

  return {
    peek: () => (size === 0 ? undefined : items[0]),
    pop() {
      items[0] = items[--size]!
      if (size > 0) sink(0)
    },
  }
}
