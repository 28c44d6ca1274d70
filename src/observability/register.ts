import { Counter, Gauge, type Registry } from 'prom-client'

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

/** A histogram over values that have the same labels. */
interface Series {
  readonly labels: Readonly<Record<string, string | number>>
  /** Observations by bucket; the last one is above all bounds. */
  readonly counts: Float64Array
  sum: number
}

export interface HistogramOptions<Label extends string> {
  readonly name: string
  readonly help: string
  /** None, one or two. */
  readonly labels: readonly Label[]
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/** Observes a value under up to two label values. */
type Observe = (value: number, first?: string, second?: string | number) => void

/**
 * A histogram for the hot path, shown by prom-client's registry beside its own. prom-client hashes
 * the labels at each observation; four of them cost a request more than 5 % of its time on the main
 * thread. Here a series is found by two look-ups of interned strings.
 */
export function createHistogram<Label extends string>(
  registry: Registry,
  { name, help, labels, buckets }: HistogramOptions<Label>,
): Observe {
  const series = new Map<string, Map<string | number, Series>>()

  function find(first: string, second: string | number): Series {
    const inner = series.get(first) ?? new Map<string | number, Series>()
    if (inner.size === 0) series.set(first, inner)
    const known = inner.get(second)
    if (known !== undefined) return known
    const values = [first, second]
    const created = {
      labels: Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])),
      counts: new Float64Array(buckets.length + 1),
      sum: 0,
    }
    inner.set(second, created)
    return created
  }

  function samples({ labels: own, counts, sum }: Series) {
    let below = 0
    const rows = [...buckets, '+Inf'].map((le, index) => {
      below += counts[index] ?? 0
      return { metricName: `${name}_bucket`, labels: { le, ...own }, value: below }
    })
    const total = { labels: own, value: below, metricName: `${name}_count` }
    return [...rows, { labels: own, value: sum, metricName: `${name}_sum` }, total]
  }

  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    reset: () => series.clear(),
    async get() {
      const all = [...series.values()].flatMap(inner => [...inner.values()])
      return { name, help, type: 'histogram', aggregator: 'sum', values: all.flatMap(samples) }
    },
  }
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])

  return (value, first = '', second = '') => {
    const found = find(first, second)
    const { counts } = found
    let bucket = 0
    while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket++
    counts[bucket] = (counts[bucket] as number) + 1
    found.sum += value
  }
}
