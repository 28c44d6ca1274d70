import { distance } from 'fastest-levenshtein'
import type { PublicEntry } from '../catalogue.ts'
import { sentDefinition } from './sent-definition.ts'

/** Words that tools and queries share whatever they are about. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an and any are as at be by can for from has have how if in into is it its of on or',
    'that the then this to use used using want when which will with you your',
  ].flatMap(line => line.split(' ')),
)

/** Single characters of scripts that have no spaces; else runs of letters and digits. */
const RUNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu
const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/**
 * The stems of a text's words, in their order. Snake case and camel case are split; a name in camel
 * case is also one word of its own (`YouTube`: you, tube, youtube).
 */
export function wordsOf(text: string): string[] {
  return (text.match(RUNS) ?? []).flatMap(run => {
    const parts = run.split(CAMEL)
    const all = parts.length > 1 ? [...parts, run] : parts
    return all
      .map(each => each.toLowerCase())
      .filter(each => !STOP_WORDS.has(each))
      .map(stem)
  })
}

/** Without the endings of English plurals and verbs: `creates`, `created`, `creation`: `creat`. */
function stem(word: string): string {
  let rest = word.replace(/(?<=\w{2})ies$/, 'y').replace(/(?<=\w{2}[^suix])s$/, '')
  rest = rest.replace(/(?<=\w{3})(?:ing|ed|ion)$/, '').replace(/(?<=\w{2})e$/, '')
  return rest.replace(/(?<=\w)([^aeiouylsz\d])\1$/, '$1')
}

/** What a word counts for, by where it is. */
const WEIGHTS = { name: 3, server: 2, description: 1, parameters: 0.5 } as const
/** Okapi BM25 (Robertson and Zaragoza 2009): saturation, and how much length counts. */
const K1 = 1.2
const B = 0.75

/** Bounds on what is read, whatever servers and models write. */
const MOST_TEXT = 4_000
const MOST_PARAMETERS = 200
const MOST_QUERY = 4_000
const MOST_NAMED = 20
/** Longer names are compared up to here; comparing takes the product of both lengths. */
const MOST_COMPARED = 64

interface Posting {
  readonly at: number
  readonly weight: number
}

/** What a query finds, the best first. */
export interface FoundTools {
  /** Tools that the query names. */
  readonly named: readonly PublicEntry[]
  /** Others that have words of it; none if all of the query is names. */
  readonly ranked: readonly PublicEntry[]
}

/** Tools by their names and words. The same tools and the same query give the same answer. */
export class ToolIndex {
  readonly #tools: readonly PublicEntry[]
  /** Places by public names, and by servers' own names; both in lower case. */
  readonly #names = new Map<string, number[]>()
  readonly #postings = new Map<string, Posting[]>()
  readonly #lengths: number[] = []
  #sum = 0

  /** @param tools sorted by their public names */
  constructor(tools: readonly PublicEntry[]) {
    this.#tools = tools
    for (const [at, { publicKey, key }] of tools.entries()) {
      for (const name of new Set([publicKey.toLowerCase(), key.toLowerCase()])) {
        push(this.#names, name, at)
      }
    }
  }

  /** Reads the words of the tools from this place on. @returns the bytes that were read */
  read(at: number): number {
    const tool = this.#tools[at]!
    const sent = sentDefinition(tool)
    const { description, inputSchema } = JSON.parse(sent.toString())
    const parameters = Object.keys(Object(inputSchema?.properties)).slice(0, MOST_PARAMETERS)
    const texts = {
      name: tool.key,
      server: tool.server,
      parameters: parameters.join(' '),
      description: typeof description === 'string' ? description : '',
    }
    const weights = new Map<string, number>()
    let length = 0
    for (const [field, weight] of Object.entries(WEIGHTS)) {
      for (const word of wordsOf(texts[field as keyof typeof WEIGHTS].slice(0, MOST_TEXT))) {
        weights.set(word, (weights.get(word) ?? 0) + weight)
        length += weight
      }
    }
    for (const [word, weight] of weights) push(this.#postings, word, { at, weight })
    this.#lengths.push(length)
    this.#sum += length
    return sent.length
  }

  /** The tools of a name: of the public one, or else all of which it is the server's own. */
  ofName(name: string): readonly PublicEntry[] {
    const found = (this.#names.get(name.toLowerCase()) ?? []).map(at => this.#tools[at]!)
    const exact = found.filter(({ publicKey }) => publicKey === name)
    return exact.length > 0 ? exact : found
  }

  find(query: string): FoundTools {
    const text = query.slice(0, MOST_QUERY)
    const rest: string[] = []
    const named = new Set<PublicEntry>()
    const take = (name: string) => {
      const found = this.ofName(name.replace(/^["'`]|["'`]$/g, ''))
      for (const tool of found) if (named.size < MOST_NAMED) named.add(tool)
      return found.length > 0
    }
    for (const part of text.split(/[,;\n]+/).map(each => each.trim())) {
      if (take(part)) continue
      // A word of a sentence may be the name of a tool by chance.
      const words = part.split(/\s+/).filter(word => !(IDENTIFIER.test(word) && take(word)))
      rest.push(words.join(' '))
    }
    const ranked = this.#ranked(rest.join(' ')).filter(tool => !named.has(tool))
    return { named: [...named], ranked }
  }

  /** The tools whose names are most like a text. */
  nearest(text: string, most: number): readonly PublicEntry[] {
    const given = text.slice(0, MOST_COMPARED).toLowerCase()
    const editsOf = (name: string) => distance(given, name.slice(0, MOST_COMPARED).toLowerCase())
    return this.#tools
      .map(tool => ({ tool, edits: Math.min(editsOf(tool.publicKey), editsOf(tool.key)) }))
      .sort((a, b) => a.edits - b.edits)
      .slice(0, most)
      .map(({ tool }) => tool)
  }

  #ranked(text: string): PublicEntry[] {
    const count = this.#tools.length
    const scores = new Map<number, number>()
    for (const word of new Set(wordsOf(text))) {
      const postings = this.#postings.get(word) ?? []
      const rarity = Math.log(1 + (count - postings.length + 0.5) / (postings.length + 0.5))
      for (const { at, weight } of postings) {
        const length = (this.#lengths[at]! * count) / this.#sum
        const score = (rarity * weight * (K1 + 1)) / (weight + K1 * (1 - B + B * length))
        scores.set(at, (scores.get(at) ?? 0) + score)
      }
    }
    return [...scores]
      .sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || a - b)
      .map(([at]) => this.#tools[at]!)
  }
}

/** Looks like a name of a tool and not like a word: `get_issue`, `getIssue`. */
const IDENTIFIER = /[_-]|[a-z][A-Z]/

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const known = lists.get(key)
  if (known === undefined) lists.set(key, [value])
  else known.push(value)
}
