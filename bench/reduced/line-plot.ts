/** A curve; its points are in the order of x. */
export interface Series {
  readonly name: string
  readonly color: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** Where an axis ends, and how its marks are written; it begins at 0. */
export interface Axis {
  readonly max: number
  format(value: number): string
}

const WIDTH = 800
const HEIGHT = 320
const MARGIN = { left: 60, right: 20, top: 30, bottom: 40 }
const MARKS = [0, 0.25, 0.5, 0.75, 1]

/** An SVG with several curves over the same axes. */
export function linePlot(series: readonly Series[], xAxis: Axis, yAxis: Axis): string {
  const x = (value: number) =>
    MARGIN.left + (value / xAxis.max) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (value: number) =>
    HEIGHT - MARGIN.bottom - (value / yAxis.max) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const text = (atX: number, atY: number, content: string, extra = '') =>
    `<text x="${atX.toFixed(1)}" y="${atY.toFixed(1)}" ${extra}>${content}</text>`

  const grid = MARKS.flatMap(share => {
    const level = y(share * yAxis.max)
    return [
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${level}" y2="${level}" stroke="#ddd"/>`,
      text(MARGIN.left - 8, level + 4, yAxis.format(share * yAxis.max), 'text-anchor="end"'),
      text(
        x(share * xAxis.max),
        HEIGHT - 16,
        xAxis.format(share * xAxis.max),
        'text-anchor="middle"',
      ),
    ]
  })
  const step = Math.min(180, (WIDTH - MARGIN.left) / series.length)
  const lines = series.flatMap(({ name, color, points }, index) => [
    `<polyline fill="none" stroke="${color}" points="${points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' ')}"/>`,
    text(MARGIN.left + index * step, 18, name, `fill="${color}"`),
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
