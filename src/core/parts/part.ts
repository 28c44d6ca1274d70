import type { PathStep } from './path-steps.ts'

/**
 * Which part of an original is wanted. Lines are named by the numbers printed before them, as
 * references name them, or else count from 1; bytes count from 0. Both ends are included.
 */
export type PartSelector =
  | { readonly kind: 'lines'; readonly range: PartRange }
  | { readonly kind: 'bytes'; readonly range: PartRange }
  /** With `lines`: those of the text that is there. */
  | {
      readonly kind: 'path'
      readonly steps: readonly PathStep[]
      readonly lines?: PartRange
    }
  | GrepSelector

/** From `first` to `last` (`null`: the end), or the last `suffix` of them. */
export type PartRange =
  | { readonly first: number; readonly last: number | null }
  | { readonly suffix: number }

export interface GrepSelector {
  readonly kind: 'grep'
  readonly text: string
  /** Lines shown before and after each match. */
  readonly context: number
  /** Whether ASCII letters match in both cases. */
  readonly ignoreCase: boolean
}

/** A part, and where it lies. `content` may be a view of the body. */
export type Part =
  | {
      readonly kind: 'lines' | 'bytes'
      readonly content: Uint8Array
      readonly first: number
      readonly last: number
      readonly total: number
      /** `first` and `last` are the numbers printed before the lines; absent: they are counted. */
      readonly numbers?: 'printed'
    }
  /** `values`: how many the path met; a path with a slice gives a list of them. */
  | { readonly kind: 'path'; readonly content: Uint8Array; readonly values: number }
  /** `matches` lines have the text, the first `shown` of them are in `content`. */
  | {
      readonly kind: 'grep'
      readonly content: Uint8Array
      readonly matches: number
      readonly shown: number
    }
