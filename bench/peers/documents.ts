import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { readResults } from '../../src/cli/replay/read-results.ts'
import { jsonPayloads } from '../formats/payloads.ts'

/** A JSON text that formats are compared on. */
export interface Document {
  readonly folder: string
  readonly name: string
  readonly text: string
}

/** Shorter results of sessions are left out: no format can save much of them. */
const SHORTEST_RESULT = 100

/** The JSON payloads of a corpus, and the JSON results of its sessions. */
export function readDocuments(corpus: string): readonly Document[] {
  const payloads = [...jsonPayloads(corpus)].flatMap(([folder, files]) =>
    files.map(file => ({ folder, name: basename(file), text: readFileSync(file, 'utf8') })),
  )
  const sessions = readResults(`${corpus}/sessions`)
    .results.filter(({ text }) => text.length >= SHORTEST_RESULT && isContainer(text))
    .map(({ tool, text }, i) => ({ folder: 'sessions', name: `${tool} ${i}`, text }))
  return [...payloads, ...sessions]
}

function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
