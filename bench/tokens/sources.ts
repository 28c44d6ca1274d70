import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedTexts } from '../support/generated-text.ts'

/** Texts for warming up and, from other files, for measuring. */
export interface Sources {
  readonly description: string
  readonly warm: readonly string[]
  readonly measured: readonly string[]
}

/**
 * Every second file of a corpus warms up, the others are measured; a corpus has folders `sessions`
 * (JSON lines with a field `text`) and `payloads` (files, each a text). Without a corpus: generated
 * texts, different seeds.
 */
export function loadSources(corpus: string | undefined): Sources {
  if (corpus === undefined) {
    return {
      description: 'generated text',
      warm: generatedTexts(1, 600),
      measured: generatedTexts(2, 1500),
    }
  }
  const sessions = filesUnder(join(corpus, 'sessions'))
  const payloads = filesUnder(join(corpus, 'payloads'))
  const textsOf = (odd: number): string[] => [
    ...sessions.filter((_, i) => i % 2 === odd).flatMap(textsOfSession),
    ...payloads.filter((_, i) => i % 2 === odd).map(path => readFileSync(path, 'utf8')),
  ]
  // The larger half is measured.
  const [small, large] = [textsOf(0), textsOf(1)].sort((a, b) => bytesOf(a) - bytesOf(b))
  return { description: 'corpus', warm: small ?? [], measured: large ?? [] }
}

/** UTF-8 bytes of all texts. */
export function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

function textsOfSession(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => (JSON.parse(line) as { text: string }).text)
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}
