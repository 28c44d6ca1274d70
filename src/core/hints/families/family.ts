import type { Hint, Verbosity } from '../hint.ts'
import type { HintReader } from '../reader.ts'

/** How the hints of one family are written and read: the text between `> [` and `]`. */
export interface Family<H extends Hint> {
  /** Whether the facts are of their kind: ids hexadecimal, counts whole, lists not empty. */
  valid(hint: H): boolean
  write(hint: H, verbosity: Verbosity): string
  /**
   * Returns `null` if the text is not of this family. The result may be invalid, and may not be all
   * of the text; the caller checks both.
   */
  read(reader: HintReader): H | null
}

/** Most UTF-16 code units of a value that may be cut. */
export const SHOWN_CHARS: Readonly<Record<Verbosity, number>> = {
  terse: 40,
  standard: 80,
  verbose: 240,
}

/** Whether these are all whole numbers from `least`; absent ones do not count. */
export function areCounts(least: number, ...numbers: readonly (number | undefined)[]): boolean {
  return numbers.every(n => n === undefined || (Number.isSafeInteger(n) && n >= least))
}
