import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Raised when pairs or questions change: answers to other ones are not taken up. */
const VERSION = 1

/** The side of a pair that a question was asked about. */
export type Side = 'with' | 'without'

/** What a model answered. */
export interface Answered {
  readonly construct: string
  readonly seed: number
  /** The question's place in its pair. */
  readonly question: number
  readonly side: Side
  readonly right: boolean
  readonly given: string
}

/** The answers of one model, a line each, so that a run that was stopped goes on. */
export class AnswersFile {
  readonly #path: string
  readonly #answers = new Map<string, Answered>()

  /** @param path the file, which need not be there */
  constructor(path: string) {
    this.#path = path
    if (!existsSync(path)) return
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const answer = readLine(line)
      if (answer !== null) this.#answers.set(keyOf(answer), answer)
    }
  }

  get all(): readonly Answered[] {
    return [...this.#answers.values()]
  }

  has(place: Omit<Answered, 'right' | 'given'>): boolean {
    return this.#answers.has(keyOf(place))
  }

  add(answer: Answered): void {
    this.#answers.set(keyOf(answer), answer)
    mkdirSync(dirname(this.#path), { recursive: true })
    appendFileSync(this.#path, `${JSON.stringify({ version: VERSION, ...answer })}\n`)
  }
}

/** Returns `null` for an answer of another version, or half a line. */
function readLine(line: string): Answered | null {
  try {
    const { version, ...answer } = JSON.parse(line) as Answered & { version: number }
    return version === VERSION ? answer : null
  } catch {
    return null
  }
}

function keyOf({ construct, seed, question, side }: Omit<Answered, 'right' | 'given'>): string {
  return `${construct} ${seed} ${question} ${side}`
}
