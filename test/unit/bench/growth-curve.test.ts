import { expect, it } from 'vitest'
import { type Curve, slopeOf, tableOfCurves } from '../../../bench/growth/measure.ts'

const cost = (power: number) => [1, 10, 100, 1000].map(x => [x, 7 * x ** power] as const)

it.each([0, 0.5, 1, 2])('finds the power of a cost: %s', power => {
  expect(slopeOf(cost(power))).toBeCloseTo(power, 10)
})

it('names what is steeper than its goal', () => {
  const curve = (name: string, power: number): Curve => {
    return { name, by: 'size', goal: 1.1, points: cost(power) }
  }
  const curves = [curve('linear', 1), curve('square', 2)]
  const lines = tableOfCurves(curves, String).split('\n')
  expect(lines.filter(line => line.includes('steeper'))).toEqual([
    expect.stringMatching(/^\| square \|.* 2\.00 \|/),
  ])
})
