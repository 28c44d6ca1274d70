import { COUNTERS, type CounterName } from '../values/store-figures.ts'

export type Count = (name: CounterName, by?: number) => void

/** Counts since the start; what a rolled back transaction counted is not taken back. */
export function createCounters(): {
  readonly count: Count
  readonly values: Readonly<Record<CounterName, number>>
} {
  const values = Object.fromEntries(COUNTERS.map(name => [name, 0])) as Record<CounterName, number>
  return {
    values,
    count(name, by = 1) {
      values[name] += by
    },
  }
}
