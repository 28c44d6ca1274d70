/** A change that no test can notice, since nothing that a caller sees depends on it. */
export interface Equivalent {
  /** The file's name without its folder, so that a moved file keeps its entries. */
  readonly file: string
  /** The changed code, and what it became. */
  readonly from: string
  readonly to: string
  readonly why: string
}

/** Read by hand, one by one. An entry without a reason is a missing test. */
const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'elision.ts',
    from: 'first === undefined',
    to: 'false',
    why: 'parseHint writes what it read again: without a number that is another text',
  },
  {
    file: 'elision.ts',
    from: 'omitted === undefined',
    to: 'false',
    why: 'parseHint writes what it read again: without a number that is another text',
  },
  {
    file: 'references.ts',
    from: 'ref === undefined',
    to: 'false',
    why: 'parseHint writes what it read again: without an id that is another text',
  },
  {
    file: 'reader.ts',
    from: 'digits === undefined || !Number.isSafeInteger(Number(digits))',
    to: 'digits === undefined && !Number.isSafeInteger(Number(digits))',
    why: 'families refuse unsafe counts, and parseHint compares the digits with what it read',
  },
  {
    file: 'check-elision.ts',
    from: 'last <= lines.length',
    to: 'true',
    why: 'a reading beyond the last line never comes back to it, and only one that ends there counts',
  },
  {
    file: 'check-elision.ts',
    from: 'after <= line.length',
    to: 'true',
    why: 'a place beyond the end of the line never comes back to it, and only the end counts',
  },
  {
    file: 'arms-answer.ts',
    from: 'mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)',
    to: 'mixed - Math.imul(mixed ^ mixed >>> 7, 61 | mixed)',
    why: 'its numbers are spread as well: which of them come is chance',
  },
  {
    file: 'commit-answer.ts',
    from: '() => true',
    to: '() => undefined',
    why: 'of the texts of a session only `false` is looked for',
  },
  {
    file: 'original-answer.ts',
    from: 'end < bytes.length',
    to: 'true',
    why: 'beyond the end there is no byte that goes on a character',
  },
  {
    file: 'vendor-proxy.ts',
    from: 'incoming === undefined',
    to: 'false',
    why: 'without a request of Node there is no target, and so no path, which is asked next',
  },
]

/** Whether this change is on the list. */
export function isEquivalent(change: Omit<Equivalent, 'why'>): boolean {
  return EQUIVALENT.some(
    ({ file, from, to }) => file === change.file && from === change.from && to === change.to,
  )
}
