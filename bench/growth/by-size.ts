import { encode } from '../../src/index.ts'
import type { Curve, Point } from './curve.ts'
import { costOf } from './measure.ts'
import { SHAPES } from './texts.ts'

const SIZES = [1e3, 1e4, 1e5, 1e6, 1e7, 3e7]
const SLOPE = 1.1

/** Encodes of one result, by its size. */
export async function encodesBySize(largest: number): Promise<readonly Curve[]> {
  const curves: Curve[] = []
  for (const { name, make } of SHAPES) {
    const points: Point[] = []
    for (const size of SIZES.filter(each => each <= largest)) {
      const content = make(size)
      points.push([content.length, await costOf(() => encode({ content }))])
    }
    curves.push({ name, by: 'characters', goal: SLOPE, points })
  }
  return curves
}
