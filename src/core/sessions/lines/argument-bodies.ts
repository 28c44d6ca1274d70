/** A long text that an agent gave to a tool. */
export interface ArgumentBody {
  /** Its path in the arguments: `content`, `edits[0].new_string`. */
  readonly name: string
  readonly text: string
}

/** Shorter texts have no run that pays for a reference. */
const MIN_CHARS = 200
/** Values of the arguments that are looked at, and how deep. */
const MAX_VALUES = 1000
const MAX_DEPTH = 6

/**
 * The texts in a call's arguments that later results may repeat: an agent often reads again what it
 * wrote into a file. These texts are in its context, so they may be kept and referred to like
 * earlier bodies. A reference names them `Write.content`. In the order of the arguments; work is
 * bounded.
 */
export function argumentBodies(args: unknown): readonly ArgumentBody[] {
  const bodies: ArgumentBody[] = []
  let values = 0
  const visit = (value: unknown, name: string, depth: number) => {
    if (++values > MAX_VALUES) return
    if (typeof value === 'string') {
      if (value.length >= MIN_CHARS) bodies.push({ name, text: value })
      return
    }
    if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return
    for (const [key, member] of Object.entries(value)) {
      const step = Array.isArray(value) ? `[${key}]` : name === '' ? key : `.${key}`
      visit(member, name + step, depth + 1)
    }
  }
  visit(args, '', 0)
  return bodies
}
