import { formsOf } from './arguments.ts'

/** How an agent has an argument: as it was sent, by a notation or a reference, or not in view. */
export type Seen = 'sent' | 'decoded' | 'fetched' | 'lost'

interface Result {
  readonly text: string
  readonly sent: string
  readonly whole: string
  readonly isCut: boolean
}

/** A provider forgets a prefix that was not used for so long. */
const CACHE_LIFE_MS = 300_000
/** Shorter results are never cleared. */
const LEAST_CLEARED_CHARS = 512
/** A part of a text that is fetched, in lines around what is needed. */
const MOST_LINES = 200

/** What an agent has in view, and what its calls need of it. */
export function createView({ atPauses, masked }: { atPauses?: number; masked?: number }) {
  const results: Result[] = []
  const gone = new Set<number>()
  const used: string[] = []
  let last: number | undefined
  let removed: readonly number[] = []

  const isGone = (index: number) =>
    gone.has(index) || (masked !== undefined && index < results.length - masked)

  function lookFor(argument: string): { seen: Seen; from?: number; form?: string } | null {
    for (const form of formsOf(argument)) {
      if (used.some(text => text.includes(form))) return null
      const having = results.flatMap((result, index) => (result.text.includes(form) ? [index] : []))
      if (having.length === 0) continue
      const inView = having.filter(index => !isGone(index))
      if (inView.some(index => results[index]!.sent.includes(form))) return { seen: 'sent' }
      if (inView.some(index => results[index]!.whole.includes(form))) return { seen: 'decoded' }
      if (masked !== undefined) return { seen: 'lost' }
      return { seen: 'fetched', from: having.at(-1)!, form }
    }
    return null
  }

  return {
    /** A call begins, at a time if that is known. */
    begin(at: number | undefined): void {
      removed = []
      if (atPauses !== undefined && at !== undefined && last !== undefined) {
        if (at - last > CACHE_LIFE_MS) removed = clear(results.length - atPauses)
      }
      last = at ?? last
    },
    /** What the call's arguments need, each at its first use. */
    look(needs: readonly string[]): { seen: readonly Seen[]; fetched: readonly string[] } {
      const found = needs.flatMap(argument => lookFor(argument) ?? [])
      for (const argument of needs) used.push(argument)
      // One part of each result is fetched, around the first that is needed of it.
      const byResult = new Map<number, string>()
      for (const { from, form } of found) {
        if (from === undefined || form === undefined || byResult.has(from)) continue
        byResult.set(from, partAround(results[from]!.text, form))
      }
      const parts = [...byResult.values()]
      // What was fetched stays in view.
      for (const part of parts) results.push({ text: part, sent: part, whole: part, isCut: false })
      return { seen: found.map(({ seen }) => seen), fetched: parts }
    },
    pass(result: Result): void {
      results.push(result)
    },
    /** Results that the pause before this call removed, by the characters that were sent of each. */
    removed: () => removed,
  }

  function clear(end: number): readonly number[] {
    const chars: number[] = []
    for (let index = 0; index < end; index++) {
      const { length } = results[index]!.sent
      if (gone.has(index) || length < LEAST_CLEARED_CHARS) continue
      gone.add(index)
      chars.push(length)
    }
    return chars
  }
}

function partAround(text: string, form: string): string {
  const lines = text.split('\n')
  const at = lines.findIndex(line => line.includes(form))
  const start = Math.max(0, at - MOST_LINES / 2)
  return at === -1 ? text : lines.slice(start, start + MOST_LINES).join('\n')
}

/** Prices of a token, in tokens that no cache has. */
const READ = 0.1
const WRITE = 1.25
const OUTPUT = 5
/** Tokens of a call that fetches, and of a call more. */
const FETCH_OUTPUT = 150
const EXTRA_TOKENS = 750
/** About, of what was sent. */
const CHARS_OF_TOKEN = 3.5
/** Tokens of a stub. */
const STUB_TOKENS = 30

/** One call and its result. */
export interface Turn {
  readonly at: number | undefined
  readonly call: number
  readonly result: number
  /** Characters of results that were cleared before it. */
  readonly removed: readonly number[]
  /** Tokens of parts that were fetched before it. */
  readonly fetched: readonly number[]
  readonly isCut: boolean
}

interface CostTerms {
  readonly prompt: number
  /** Results of one turn. */
  readonly results: number
  /** Calls more for each result that lacks parts. */
  readonly extra: number
}

/** What a conversation costs with prompt caches. */
export function costOf(turns: readonly Turn[], { prompt, results, extra }: CostTerms): number {
  let cached = 0
  let size = prompt
  let cost = 0
  let last: number | undefined
  const ask = (output: number) => {
    cost += cached * READ + (size - cached) * WRITE + output * OUTPUT
    cached = size
  }
  turns.forEach(({ at, call, result, removed, fetched, isCut }, index) => {
    if (at !== undefined && last !== undefined && at - last > CACHE_LIFE_MS) cached = 0
    last = at ?? last
    const gone = removed.reduce((sum, chars) => sum + chars / CHARS_OF_TOKEN - STUB_TOKENS, 0)
    size -= Math.max(0, gone)
    for (const part of fetched) {
      ask(FETCH_OUTPUT)
      size += part + FETCH_OUTPUT
    }
    if (index % results === 0) ask(call)
    else cost += call * OUTPUT
    size += call + result
    if (isCut && extra > 0) {
      cost += extra * (size * READ + EXTRA_TOKENS * WRITE + FETCH_OUTPUT * OUTPUT)
      size += extra * EXTRA_TOKENS
    }
  })
  return cost
}
