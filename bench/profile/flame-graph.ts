import { type Frame, totalOf } from './read-profile.ts'

const WIDTH = 1600
const HEIGHT = 16
/** Narrower frames are left out, with all that they call. */
const NARROWEST = 0.5
/** Pixels of a character, and the narrowest frame with a name in it. */
const CHAR = 6
const NAMED = 30

/** The tree of calls as SVG: each function above its caller, as wide as its time. */
export function flameGraph(root: Frame, total: number): string {
  const boxes: string[] = []
  let levels = 0
  const draw = (frame: Frame, x: number, level: number): void => {
    const time = totalOf(frame)
    const width = (time / total) * WIDTH
    if (width < NARROWEST) return
    levels = Math.max(levels, level + 1)
    const name = readable(frame.name)
    const label = width < NAMED ? '' : name.slice(0, width / CHAR)
    const hue = [...frame.folder].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 360
    boxes.push(
      `<g transform="translate(${x.toFixed(1)} ${level * HEIGHT})"><title>${name} ${((time / total) * 100).toFixed(1)} %</title>` +
        `<rect width="${width.toFixed(1)}" height="${HEIGHT - 1}" fill="hsl(${hue} 60% 75%)"/>` +
        `<text x="2" y="11">${label}</text></g>`,
    )
    let start = x
    for (const call of frame.calls) {
      draw(call, start, level + 1)
      start += (totalOf(call) / total) * WIDTH
    }
  }
  draw(root, 0, 0)
  const size = `width="${WIDTH}" height="${levels * HEIGHT}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="monospace" font-size="10">${boxes.join('\n')}</svg>\n`
}

/** Without characters that XML would need entities for, since names are cut. */
function readable(text: string): string {
  return text.replaceAll('&', '+').replaceAll('<', '‹').replaceAll('>', '›')
}
