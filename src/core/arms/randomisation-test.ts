/**
 * The randomisation test of R. A. Fisher, "The Design of Experiments" (1935): if the arms made no
 * difference, any other draw of them would have been as good. How rare the observed difference is
 * among such draws needs no assumption about how the values spread. Some redraws are
 * enough: B. Phipson and G. K. Smyth, "Permutation p-values should never be zero" (2010).
 */

/** A value of a unit, and its arm. */
export interface UnitValue {
  readonly isHeldOut: boolean
  readonly value: number
}

const REDRAWS = 2_000

/** What the treated have more than those held out, in the mean, and how rare that is by chance. */
export interface UnitDifference {
  readonly difference: number
  /** Share of draws with a difference that is as large, of either sign. */
  readonly p: number
}

/** @param random from 0 on, below 1 @returns `null` if an arm has no unit */
export function testUnits(
  units: readonly UnitValue[],
  random: () => number,
  redraws = REDRAWS,
): UnitDifference | null {
  const values = units.map(({ value }) => value)
  const held = units.reduce((sum, { isHeldOut }) => sum + (isHeldOut ? 1 : 0), 0)
  if (held === 0 || held === units.length) return null
  const total = values.reduce((sum, value) => sum + value, 0)
  const differenceOf = (ofHeld: number) => (total - ofHeld) / (values.length - held) - ofHeld / held
  const observed = differenceOf(
    units.reduce((sum, { isHeldOut, value }) => sum + (isHeldOut ? value : 0), 0),
  )
  let asLarge = 0
  for (let n = 0; n < redraws; n++) {
    // The first of a shuffle that goes only so far are a draw without replacement.
    let ofHeld = 0
    for (let at = 0; at < held; at++) {
      const other = at + Math.floor(random() * (values.length - at))
      const value = values[other]!
      values[other] = values[at]!
      values[at] = value
      ofHeld += value
    }
    if (Math.abs(differenceOf(ofHeld)) >= Math.abs(observed) - TINY * Math.abs(observed)) asLarge++
  }
  return { difference: observed, p: (asLarge + 1) / (redraws + 1) }
}

/** Sums in another order differ in their last digits. */
const TINY = 1e-9
