import type { Profiler } from 'node:inspector'

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

/** A function on the stack, and what it calls. Times are in microseconds. */
interface Frame {
  /** The function and its file. */
  readonly name: string
  readonly folder: string
  own: number
  readonly calls: Frame[]
}

/** The profile as a tree from its root on. */
export function readTree({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, frameOf(callFrame)]))
  for (const { id, children = [] } of nodes) {
    for (const child of children) frames.get(id)!.calls.push(frames.get(child)!)
  }
  for (const [i, id] of samples.entries()) frames.get(id)!.own += timeDeltas[i] ?? 0
  return frames.get(nodes[0]!.id)!
}

/** Code of packages and of Node is named by where it comes from alone. */
function frameOf({ functionName, url, lineNumber }: Profiler.ProfileNode['callFrame']): Frame {
  const [, inside] = /\/((?:src|workers|bench)\/.*)$/.exec(url) ?? []
  const [, part] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  const other = url === '' ? '(engine)' : url.startsWith('wasm:') ? '(kernel)' : url
  const file = part ?? inside ?? other
  return {
    name: `${functionName === '' ? `line ${lineNumber + 1}` : functionName} ${file}`,
    folder: part ?? (inside === undefined ? other : inside.replace(/\/[^/]*$/, '')),
    own: 0,
    calls: [],
  }
}

/** The time of a function and of all that it calls. */
export function totalOf(frame: Frame): number {
  return frame.calls.reduce((sum, call) => sum + totalOf(call), frame.own)
}

/** The time of a folder or function by itself, and with what it calls. */
export interface Share {
  readonly name: string
  own: number
  inclusive: number
}

/** The largest first. What is on a stack several times counts once. */
export function sharesOf(root: Frame, keyOf: (frame: Frame) => string): readonly Share[] {
  const shares = new Map<string, Share>()
  const collect = (frame: Frame, around: ReadonlySet<string>): void => {
    const name = keyOf(frame)
    const share = shares.get(name) ?? { name, own: 0, inclusive: 0 }
    shares.set(name, share)
    share.own += frame.own
    if (!around.has(name)) share.inclusive += totalOf(frame)
    const inside = new Set(around).add(name)
    for (const call of frame.calls) collect(call, inside)
  }
  for (const frame of root.calls) collect(frame, new Set())
  return [...shares.values()].sort((a, b) => b.inclusive - a.inclusive)
}
