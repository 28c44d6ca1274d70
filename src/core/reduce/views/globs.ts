/** Longer names match only patterns that match anything. */
const MAX_NAME_CHARS = 256

/**
 * A test for names by a pattern in which `*` is any text. Its pieces are looked for from left to
 * right, each once, so no pattern goes back.
 */
export function compileName(pattern: string): (name: string) => boolean {
  const pieces = pattern.split('*')
  if (pieces.length === 1) return name => name === pattern
  const first = pieces[0]!
  const last = pieces.at(-1)!
  const inner = pieces.slice(1, -1).filter(piece => piece !== '')
  if (first === '' && last === '' && inner.length === 0) return () => true
  return name => {
    if (name.length > MAX_NAME_CHARS || name.length < first.length + last.length) return false
    if (!name.startsWith(first) || !name.endsWith(last)) return false
    const end = name.length - last.length
    let at = first.length
    for (const piece of inner) {
      const found = name.indexOf(piece, at)
      if (found === -1 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}

/** One step of a glob; `null` is `**`, any number of steps. */
type GlobStep = ((name: string) => boolean) | null

/** Where the globs are after some steps of a path. */
export interface PathState {
  /** Globs that match the path, by their index. */
  readonly accepts: ReadonlySet<number>
  /** Globs that may match further down. */
  readonly leads: ReadonlySet<number>
  /** Pairs of a glob and a place in it. */
  readonly places: readonly number[]
  readonly next: Map<string, PathState>
}

/** Transitions that are remembered; others are made again each time. */
const MAX_KNOWN = 20_000

/**
 * Follows many globs down a value at once. A step costs one lookup for a name that came before in
 * the same state, else a look at each glob that is still possible.
 */
export class PathMatcher {
  readonly #globs: readonly (readonly GlobStep[])[]
  readonly #states = new Map<string, PathState>()
  readonly start: PathState
  #known = 0

  constructor(globs: readonly string[]) {
    this.#globs = globs.map(glob =>
      glob.split('.').map(step => (step === '**' ? null : compileName(step))),
    )
    const places: number[] = []
    this.#globs.forEach((_, glob) => {
      this.#add(places, glob, 0)
    })
    this.start = this.#state(places)
  }

  step(state: PathState, name: string): PathState {
    const known = state.next.get(name)
    if (known !== undefined) return known
    const places: number[] = []
    for (let i = 0; i < state.places.length; i += 2) {
      const glob = state.places[i]!
      const at = state.places[i + 1]!
      const steps = this.#globs[glob]!
      if (at === steps.length) continue
      const step = steps[at]!
      if (step === null) this.#add(places, glob, at)
      else if (step(name)) this.#add(places, glob, at + 1)
    }
    const next = this.#state(places)
    if (this.#known < MAX_KNOWN) {
      this.#known++
      state.next.set(name, next)
    }
    return next
  }

  /** A place, and those that `**` reaches without a step. */
  #add(places: number[], glob: number, at: number): void {
    const steps = this.#globs[glob]!
    for (let i = 0; i < places.length; i += 2) {
      if (places[i] === glob && places[i + 1] === at) return
    }
    places.push(glob, at)
    if (at < steps.length && steps[at] === null) this.#add(places, glob, at + 1)
  }

  #state(places: readonly number[]): PathState {
    const id = places.join(' ')
    const known = this.#states.get(id)
    if (known !== undefined) return known
    const accepts = new Set<number>()
    const leads = new Set<number>()
    for (let i = 0; i < places.length; i += 2) {
      const isEnd = places[i + 1] === this.#globs[places[i]!]!.length
      ;(isEnd ? accepts : leads).add(places[i]!)
    }
    const state = { accepts, leads, places, next: new Map() }
    if (this.#states.size < MAX_KNOWN) this.#states.set(id, state)
    return state
  }
}
