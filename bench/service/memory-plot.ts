import { linePlot } from '../support/line-plot.ts'

/** Memory after so many requests. */
export interface MemorySample {
  readonly requests: number
  readonly heap_mib: number
  readonly resident_mib: number
}

const LINES = [
  { key: 'resident_mib', name: 'resident', color: '#2563eb' },
  { key: 'heap_mib', name: 'heap of the main thread', color: '#dc2626' },
] as const

/** An SVG with both kinds of memory over the number of requests. */
export function memoryPlot(samples: readonly MemorySample[]): string {
  const most = Math.max(...samples.map(({ resident_mib }) => resident_mib))
  const series = LINES.map(({ key, name, color }) => ({
    name,
    color,
    points: samples.map(sample => [sample.requests, sample[key]] as const),
  }))
  return linePlot(
    series,
    {
      max: Math.max(...samples.map(({ requests }) => requests)),
      format: requests => requests.toLocaleString('en-US'),
    },
    { max: Math.ceil(most / 100) * 100, format: mib => `${mib} MiB` },
  )
}
