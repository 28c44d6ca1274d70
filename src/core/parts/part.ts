import { selectBytes } from './bytes.ts'
import { grep } from './grep.ts'
import { selectPath } from './json-path.ts'
import { countLines, cutLines, resolveLines } from './lines.ts'
import type { PathStep } from './path-steps.ts'

/** Which part of an original is wanted. Lines count from 1, bytes from 0; both ends are included. */
export type PartSelector =
  | { readonly kind: 'lines'; readonly range: PartRange }
  | { readonly kind: 'bytes'; readonly range: PartRange }
  | { readonly kind: 'path'; readonly steps: readonly PathStep[] }
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

/** A part, with what says where it lies. `content` may be a view of the body. */
export type Part =
  | {
      readonly kind: 'lines' | 'bytes'
      readonly content: Uint8Array
      readonly first: number
      readonly last: number
      readonly total: number
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

/**
 * Cuts a part out of a body (UTF-8). Linear in the body; memory is the part.
 * @throws AppError `invalid_request` where the whole part lies outside, or the body is no JSON
 */
export function selectPart(body: Uint8Array, selector: PartSelector): Part {
  switch (selector.kind) {
    case 'lines': {
      const lines = resolveLines(selector.range, countLines(body))
      return { kind: 'lines', content: cutLines(body, 1, lines.first, lines.last), ...lines }
    }
    case 'bytes':
      return selectBytes(body, selector.range)
    case 'path':
      return selectPath(body, selector.steps)
    case 'grep':
      return grep(body, selector)
  }
}
