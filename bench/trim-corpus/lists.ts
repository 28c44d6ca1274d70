import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A recorded result, and where it is from. */
export interface Recorded {
  readonly source: string
  readonly content: string
}

/**
 * Every payload of a corpus, and every result of its sessions but errors; which of them are lists
 * is for others to say.
 */
export function* recordedResults(corpus: string): Generator<Recorded> {
  const payloads = join(corpus, 'payloads')
  for (const folder of readdirSync(payloads).sort()) {
    for (const name of readdirSync(join(payloads, folder)).sort()) {
      yield { source: folder, content: readFileSync(join(payloads, folder, name), 'utf8') }
    }
  }
  const sessions = join(corpus, 'sessions')
  for (const name of readdirSync(sessions).sort()) {
    for (const line of readFileSync(join(sessions, name), 'utf8').split('\n')) {
      if (line === '') continue
      const { text, is_error } = JSON.parse(line) as { text?: string; is_error?: boolean }
      if (text === undefined || is_error === true) continue
      yield { source: name.replace('.jsonl', ''), content: text }
    }
  }
}

/** Issues as a code host gives them, of about 400 tokens each. */
export function generatedIssues(count: number): string {
  const word = (seed: number) => ((seed * 2_654_435_761) % 4_294_967_296).toString(36)
  const issues = Array.from({ length: count }, (_, i) => ({
    number: i + 1,
    title: `${word(i)} ${word(i + 7)}`,
    state: i % 3 === 0 ? 'closed' : 'open',
    user: { login: word(i % 9), avatar_url: `https://example.org/${word(i)}` },
    labels: [{ id: i % 5, name: word(i % 5), color: 'ededed' }],
    body: Array.from({ length: 70 }, (_, k) => word(i * 100 + k)).join(' '),
    comments: i % 7,
    created_at: `2026-01-${String((i % 28) + 1).padStart(2, '0')}T00:00:00Z`,
  }))
  return JSON.stringify(issues)
}
