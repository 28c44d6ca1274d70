import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'

/**
 * A line: when the pass ends by itself, and its hash, so that the file gives away no pass. A line
 * break comes first, so that a torn line spoils no other.
 */
const LINE = /^(\d{1,16}) ([0-9a-f]{64})$/
/** Beyond so many, those that are over are removed, and then the oldest. */
const MOST_PASSES = 10_000

export interface EndedPassOptions {
  /** `null`: the passes are known to this process only. */
  readonly file: string | null
  /** Unix milliseconds. */
  now(): number
  /** Called if a pass cannot be written down, so that only this process knows that it ended. */
  onUnwritten(error: unknown): void
  readonly most?: number
}

/** Passes that were given back before their time. All processes with the same file share them. */
export class EndedPasses {
  readonly #options: EndedPassOptions
  /** The version that was read; another process may write. */
  #version = ''
  /** When each ends by itself, by hash, in the order of the file. */
  readonly #ended = new Map<string, number>()

  constructor(options: EndedPassOptions) {
    this.#options = options
  }

  has(pass: string): boolean {
    this.#read()
    return this.#ended.has(hashOf(pass))
  }

  /** @param until when the pass would have ended by itself, in Unix milliseconds */
  add(pass: string, until: number): void {
    this.#read()
    const hash = hashOf(pass)
    if (this.#ended.has(hash)) return
    this.#ended.set(hash, until)
    const { file, most = MOST_PASSES, onUnwritten } = this.#options
    const isFull = this.#ended.size > most
    if (isFull) this.#forget(most / 2)
    if (file === null) return
    try {
      if (isFull) this.#rewrite(file)
      else appendFileSync(file, lineOf([hash, until]), { mode: 0o600, flush: true })
    } catch (error) {
      onUnwritten(error)
    }
  }

  /** Adds what the file has by now. What cannot be read changes nothing. */
  #read(): void {
    const { file } = this.#options
    if (file === null) return
    try {
      const { ino, size, mtimeMs } = statSync(file)
      const version = `${ino} ${size} ${mtimeMs}`
      if (version === this.#version) return
      for (const line of readFileSync(file, 'utf8').split('\n')) {
        const [, until, hash] = LINE.exec(line) ?? []
        if (hash !== undefined) this.#ended.set(hash, Number(until))
      }
      this.#version = version
    } catch {
      // There is no file before the first pass is given back.
    }
  }

  /** Only a part stays, so that not each further pass writes the whole file. */
  #forget(most: number): void {
    const now = this.#options.now()
    for (const [hash, until] of this.#ended) if (until <= now) this.#ended.delete(hash)
    for (const hash of this.#ended.keys()) {
      if (this.#ended.size <= most) break
      this.#ended.delete(hash)
    }
  }

  #rewrite(file: string): void {
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, [...this.#ended].map(lineOf).join(''), { mode: 0o600, flush: true })
    renameSync(draft, file)
  }
}

function lineOf([hash, until]: readonly [string, number]): string {
  return `\n${until} ${hash}`
}

function hashOf(pass: string): string {
  return createHash('sha256').update(pass).digest('hex')
}
