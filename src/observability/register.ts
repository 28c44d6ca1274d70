import { Counter, Gauge, type Registry } from 'prom-client'
import { createHistogram, type Observe } from './histogram.ts'

/** Registers metrics in one registry. */
export interface Register {
  histogram(name: string, help: string, buckets: number[], ...labels: string[]): Observe
  counter(name: string, help: string, labelNames: string[]): Counter
  /** A gauge that is set by its owner. */
  setGauge(name: string, help: string, labelNames: string[]): Gauge
  /** A gauge that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void
}

/** Upper bounds for times of calls, in seconds. */
export const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]

export function registerIn(registry: Registry): Register {
  const registers = [registry]
  return {
    histogram: (name, help, buckets, ...labels) =>
      createHistogram(registry, { name, help, labels, buckets }),
    counter: (name, help, labelNames) => new Counter({ name, help, labelNames, registers }),
    setGauge: (name, help, labelNames) => new Gauge({ name, help, labelNames, registers }),
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    },
  }
}
