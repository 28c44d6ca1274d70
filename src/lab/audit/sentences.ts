import type { DefinedTool } from './defined-tool.ts'

/** Shorter texts repeat by chance. */
const MIN_LENGTH = 40

/** A sentence that several definitions have. */
export interface RepeatedSentence {
  readonly sentence: string
  /** Names of the tools, each once. */
  readonly tools: readonly string[]
  /** How often it stands in all of them. */
  readonly times: number
}

/** The sentences and lines of a text, without the white space around them. */
function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n+/).map(sentence => sentence.trim())
}

/** Sentences of at least 40 characters that stand more than once, the most frequent first. */
export function repeatedSentences(tools: readonly DefinedTool[]): RepeatedSentence[] {
  const places = new Map<string, string[]>()
  for (const { tool, description, parameters } of tools) {
    const texts = [description, ...parameters.map(parameter => parameter.description)]
    for (const sentence of texts.flatMap(sentencesOf)) {
      if (sentence.length < MIN_LENGTH) continue
      const known = places.get(sentence)
      if (known === undefined) places.set(sentence, [tool])
      else known.push(tool)
    }
  }
  return [...places]
    .filter(([, found]) => found.length > 1)
    .map(([sentence, found]) => ({ sentence, tools: [...new Set(found)], times: found.length }))
    .sort((a, b) => b.times - a.times)
}
