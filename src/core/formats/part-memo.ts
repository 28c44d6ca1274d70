import type { Scans } from '../classify/inner-formats.ts'

/**
 * What formats found out about the parts of one content with one counter. A text that has the same
 * parts in the same places, such as the frame of `strings@1`, uses it again.
 */
export class PartMemo {
  readonly #found = new Map<object, unknown>()

  /**
   * What this owner found out; made when it is first asked for.
   * @param owner decides the type: the same object always comes with the same type
   */
  of<T>(owner: object, create: () => T): T {
    let found = this.#found.get(owner) as T | undefined
    if (found === undefined) {
      found = create()
      this.#found.set(owner, found)
    }
    return found
  }

  /** Drops all of it. Drafts of a text take ten times the memory of the text. */
  forget(): void {
    this.#found.clear()
  }
}

const SCANS = {}

/** What is known of the formats in a content's strings. */
export function scansOf(memo: PartMemo): Scans {
  return memo.of<Scans>(SCANS, () => new Map())
}
