/** A format that threw while it wrote a candidate, or while that was decoded again. */
export interface Fault {
  /** The format's id, or the step of an operation. */
  readonly format: string
  /** The error's class, and where it was thrown. Its message may quote the content. */
  readonly trace: string
}

/** Faults that are kept until they are taken: a program that never takes them has no more. */
const MOST_KEPT = 1_000
const FRAMES = /^\s+at .*$/gm
const MOST_FRAMES = 8

let faults: Fault[] = []

/**
 * One step of a candidate: every format writes its text, and has it decoded again, inside of this.
 * Whatever the step throws declines the candidate, so that no format can end a request. The fault
 * is kept for the log of the service; see `takeFaults`.
 * @param declined what the step returns then; an error that it throws again is no fault
 */
export function attempt<T, U>(
  format: string,
  step: () => T,
  declined: (error: unknown) => U,
): T | U {
  try {
    return step()
  } catch (error) {
    const instead = declined(error)
    keepFault(format, error)
    return instead
  }
}

function keepFault(format: string, error: unknown): void {
  if (faults.length >= MOST_KEPT) return
  const name = error instanceof Error ? error.name : typeof error
  const frames = (error instanceof Error && error.stack?.match(FRAMES)) || []
  faults.push({ format, trace: [name, ...frames.slice(0, MOST_FRAMES)].join('\n') })
}

/** The faults of this thread since they were last taken. */
export function takeFaults(): readonly Fault[] {
  if (faults.length === 0) return NONE
  const taken = faults
  faults = []
  return taken
}

const NONE: readonly Fault[] = []
