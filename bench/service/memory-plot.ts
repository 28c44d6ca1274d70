/** Memory after so many requests. */
export interface MemorySample {
  readonly requests: number
  readonly heap_mib: number
  readonly resident_mib: number
}

const WIDTH = 800
const HEIGHT = 320
const MARGIN = { left: 60, right: 20, top: 30, bottom: 40 }
const LINES = [
  { key: 'resident_mib', name: 'resident', color: '#2563eb' },
  { key: 'heap_mib', name: 'heap of the main thread', color: '#dc2626' },
] as const

/** An SVG with both kinds of memory over the number of requests. */
export function memoryPlot(samples: readonly MemorySample[]): string {
  const maxX = Math.max(...samples.map(({ requests }) => requests))
  const maxY = Math.ceil(Math.max(...samples.map(({ resident_mib }) => resident_mib)) / 100) * 100
  const x = (requests: number) =>
    MARGIN.left + (requests / maxX) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (mib: number) =>
    HEIGHT - MARGIN.bottom - (mib / maxY) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const text = (atX: number, atY: number, content: string, extra = '') =>
    `<text x="${atX.toFixed(1)}" y="${atY.toFixed(1)}" ${extra}>${content}</text>`

  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap(share => [
    `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(share * maxY)}" y2="${y(share * maxY)}" stroke="#ddd"/>`,
    text(MARGIN.left - 8, y(share * maxY) + 4, `${share * maxY} MiB`, 'text-anchor="end"'),
    text(
      x(share * maxX),
      HEIGHT - 16,
      (share * maxX).toLocaleString('en-US'),
      'text-anchor="middle"',
    ),
  ])
  const lines = LINES.flatMap(({ key, name, color }, index) => [
    `<polyline fill="none" stroke="${color}" points="${samples.map(sample => `${x(sample.requests).toFixed(1)},${y(sample[key]).toFixed(1)}`).join(' ')}"/>`,
    text(MARGIN.left + index * 180, 18, name, `fill="${color}"`),
  ])
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...grid,
    ...lines,
    '</svg>',
    '',
  ].join('\n')
}
