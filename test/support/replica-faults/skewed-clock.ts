/** Loaded before a service whose clock is to be wrong: it is three minutes ahead. */
const AHEAD_MS = 180_000

const RealDate = Date

class SkewedDate extends RealDate {
  constructor(...args: readonly unknown[]) {
    // With arguments a date is what they say, whatever the clock is.
    super(...((args.length === 0 ? [SkewedDate.now()] : args) as [number]))
  }

  static override now(): number {
    return RealDate.now() + AHEAD_MS
  }
}

globalThis.Date = SkewedDate as DateConstructor
