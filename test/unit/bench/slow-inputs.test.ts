import { expect, it } from 'vitest'
import {
  type Input,
  KNOWN_INPUTS,
  mutated,
  randomInput,
  writeInput,
} from '../../../bench/slow-inputs/cost.ts'
import { createRandom } from '../../../src/lab/bill/statistics.ts'

const CHARS = 2000

/** Inputs as a search meets them. */
function inputsOf(seed: number): Input[] {
  const random = createRandom(seed)
  const inputs = [randomInput(random)]
  for (let i = 0; i < 300; i++) {
    inputs.push(i % 10 === 0 ? randomInput(random) : mutated(inputs.at(-1)!, random))
  }
  return inputs
}

it('the search meets the same inputs for the same seed', () => {
  expect(inputsOf(7)).toEqual(inputsOf(7))
  expect(inputsOf(7)).not.toEqual(inputsOf(8))
})

it('its inputs are about as long as asked, and JSON unless they are lines', () => {
  for (const input of [...inputsOf(7), ...Object.values(KNOWN_INPUTS)]) {
    const text = writeInput(input, CHARS)
    expect(text.length).toBeGreaterThanOrEqual(CHARS - 1)
    if (input.wrap !== 'lines') expect(() => JSON.parse(text)).not.toThrow()
  }
})
