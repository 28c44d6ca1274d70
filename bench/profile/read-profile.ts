import type { Profiler } from 'node:inspector'

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
