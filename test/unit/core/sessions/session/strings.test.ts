import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'
import { counters } from '../../../../support/vocabularies.ts'

const LINES = Array.from({ length: 60 }, (_, i) => `const row${i * 31} = measure(${i}, "shore")`)
const FILE = LINES.join('\n')
const CHANGED = [...LINES.slice(0, 30), 'const wave = "new"', ...LINES.slice(30)].join('\n')
/** Rows that no table shortens much. */
const ROWS = Array.from({ length: 40 }, (_, i) => ({
  [`key${i}`]: `Rower ${i}`,
  [`at${i * 7}`]: hash('sha256', `${i}`, 'hex').slice(0, 12),
}))
const MCP = (text: string) => JSON.stringify({ content: [{ type: 'text', text }], isError: false })
const FAILED = (text: string) =>
  JSON.stringify({ content: [{ type: 'text', text }], isError: true })
const SHELL = (stdout: string) => JSON.stringify({ exit_code: 0, stdout, stderr: '', took_ms: 12 })
const JOB = (log: string) =>
  JSON.stringify([{ job: { id: 7, steps: [{ name: 'build', log }] } }], null, 2)

/** Answers of one session, each decoded and all verified. */
function play(results: readonly [tool: string, content: string][], args: object = {}) {
  const { encode, decode } = createLocalSessions(localContext(), { bodyBytes: 1 << 20 })
  const verifier = createVerifier(counters)
  return results.map(([tool, content], at) => {
    const request: EncodeRequest & { session: string } = { session: 's', tool, args, content }
    const answer = encode(request)
    const { findings, failed } = verifier.check({ line: at + 1, entry: { request, answer } })
    expect([findings, failed]).toEqual([[], 0])
    const { content: decoded } = decode({
      session: 's',
      content: answer.content,
      format: answer.format,
    })
    const isJson = /^\s*[[{]/.test(content)
    expect(isJson ? JSON.parse(decoded) : decoded).toEqual(isJson ? JSON.parse(content) : content)
    return answer
  })
}

const references = (content: string) => content.split('\n').filter(line => line.startsWith('> '))

describe('references in strings of JSON', () => {
  it.each([
    ['MCP', MCP],
    ['a shell', SHELL],
    ['a job', JOB],
  ])('are to lines that came bare before, in the result of %s', (_, wrap) => {
    const [, answer] = play([
      ['Read', FILE],
      ['run', wrap(CHANGED)],
    ])
    expect(answer!.format).toMatch(/^string_lines@1;(?:\d+,\w+@\d,below|result_ok)/)
    expect(references(answer!.content)).toEqual([
      expect.stringMatching(/^> \[ref [0-9a-f]{8} lines 1-30 of Read 1 call ago\]$/),
      '> [lines 31-60]',
    ])
    expect(answer!.content).toContain('\nconst wave = "new"\n')
    expect(answer!.tokens.final).toBeLessThan(answer!.tokens.baseline / 4)
  })

  it.each([
    ['by its path', JOB(FILE), / of fetch\.0\.job\.steps\.0\.log 1 call ago\]$/],
    ['by the tool if it is all of the result', MCP(FILE), / of fetch 1 call ago\]$/],
    ['by its path if it failed', FAILED(FILE), / of fetch\.content\.0\.text 1 call ago\]$/],
  ])('are to lines that came in a string before, %s', (_, first, name) => {
    const [, answer] = play([
      ['fetch', first],
      ['run', SHELL(CHANGED)],
    ])
    expect(references(answer!.content)[0]).toMatch(name)
  })

  it('are written in bare text too', () => {
    const [, answer] = play([
      ['run', SHELL(FILE)],
      ['Read', CHANGED],
    ])
    expect(answer!.format).toBe('lines@1')
    expect(references(answer!.content)[0]).toMatch(/ of run\.stdout 1 call ago\]$/)
  })

  it.each([
    ['compact', JSON.stringify(ROWS)],
    ['in lines', JSON.stringify(ROWS, null, 2)],
  ])('are to JSON in a string, %s, that came in another one or bare', (_, rows) => {
    const results: [string, string][] = [
      ['fetch', MCP(rows)],
      ['run', SHELL(rows)],
      ['job', JOB(rows)],
    ]
    const [, shell, job] = play(results)
    for (const answer of [shell!, job!]) {
      expect(answer.format).toMatch(/^string_lines@1;/)
      expect(references(answer.content)).toHaveLength(1)
      expect(answer.tokens.final).toBeLessThan(answer.tokens.baseline / 4)
    }
    expect(references(shell!.content)[0]).toMatch(/ of fetch 1 call ago\]$/)
    const [, bare] = play([results[0]!, ['Read', rows]])
    expect(references(bare!.content)).toEqual([expect.stringMatching(/ of fetch 1 call ago\]$/)])
    const [, wrapped] = play([['Read', rows], results[1]!])
    expect(references(wrapped!.content)).toEqual([expect.stringMatching(/ of Read 1 call ago\]$/)])
  })

  it('are to what the agent gave to a tool', () => {
    const [answer] = play([['write', MCP(FILE)]], { text: FILE })
    expect(references(answer!.content)).toEqual([expect.stringMatching(/ of write\.text\(\)\]$/)])
  })

  it('lead to a text that is kept by itself', () => {
    const context = localContext()
    const { encode, decode } = createLocalSessions(context, { bodyBytes: 1 << 20 })
    encode({ session: 's', tool: 'run', content: SHELL(FILE) })
    const { content } = encode({ session: 's', tool: 'run', content: MCP(CHANGED) })
    const ref = /ref ([0-9a-f]+)/.exec(content)![1]
    const line = `> [ref ${ref} lines 1-60]`
    expect(decode({ session: 's', content: line, format: 'lines@1' }).content).toBe(FILE)
  })

  it('are to a whole text if its lines cannot be counted in the answer', () => {
    const page = Array.from({ length: 30 }, (_, i) => hash('sha256', `${i}`, 'base64url'))
    const rows = Array.from({ length: 30 }, (_, id) => {
      return { id, kind: 'note', state: 'open', text: id === 0 ? page.join('\n') : `none ${id}` }
    })
    const [first, part, whole] = play([
      ['fetch', JSON.stringify(rows)],
      ['Read', ['new', ...page.slice(12)].join('\n')],
      ['Read', ['more', ...page].join('\n')],
    ])
    expect(first!.format).toMatch(/^(?:tree|csv)@\d/)
    expect(references(part!.content)).toEqual([])
    expect(references(whole!.content)[0]).toMatch(/ lines 1-30 of fetch\.0\.text /)
  })

  it('are to numbered lines whose new ones are written as a numbered text', () => {
    const numbered = (lines: readonly string[], first: number) =>
      lines.map((line, at) => `${String(first + at).padStart(6)}→${line}`).join('\n')
    const more = LINES.map(line => line.replace('row', 'column'))
    const [, second, third] = play([
      ['Read', MCP(numbered(LINES, 1))],
      ['Read', MCP(numbered([...LINES.slice(30), ...more], 31))],
      ['Read', MCP(numbered(more, 61))],
    ])
    expect(second!.format).toMatch(/;numbered@1/)
    expect(references(third!.content)).toEqual([
      expect.stringMatching(/^> \[ref [0-9a-f]{8} lines 61-120 of Read/),
    ])
  })

  it('are to a whole text if only some of the texts have numbers', () => {
    const numbered = (lines: readonly string[]) =>
      lines.map((line, at) => `${String(at + 1).padStart(6)}→${line}`).join('\n')
    const more = LINES.map(line => line.replace('row', 'column'))
    const plain = LINES.map(line => line.replace('row', 'bench'))
    const both = { a: numbered([...LINES, ...more]), b: plain.join('\n') }
    const [, second, third] = play([
      ['Read', MCP(numbered(LINES))],
      ['Read', JSON.stringify(both)],
      ['Read', plain.slice(5, 50).join('\n')],
    ])
    expect(second!.format).toMatch(/^string_lines@1;.*;numbered@1/)
    expect(references(third!.content)).toEqual([])
  })

  it('are to a whole text if its lines have other places below the JSON', () => {
    const listing = Array.from({ length: 40 }, (_, i) => `src/boats/lake/rower-${i * 37}.ts`)
    const [first, part, whole] = play([
      ['run', SHELL(listing.join('\n'))],
      ['list', ['new', ...listing.slice(20)].join('\n')],
      ['list', ['more', ...listing].join('\n')],
    ])
    expect(first!.format).toMatch(/,below,prefixed@1/)
    expect(references(part!.content)).toEqual([])
    expect(references(whole!.content)[0]).toMatch(/ lines 1-40 of run\.stdout /)
  })

  it('are none after a compaction, of an error, or if they are switched off', () => {
    const { encode } = createLocalSessions(localContext(), { bodyBytes: 1 << 20 })
    encode({ session: 's', tool: 'run', content: SHELL(FILE), is_error: true })
    expect(encode({ session: 's', tool: 'run', content: MCP(FILE) }).layer).not.toBe('L0')
    const formats = ['strings', 'json_compact', 'passthrough']
    const asked = encode({ session: 's', tool: 'run', content: JOB(FILE), formats })
    expect(asked.layer).not.toBe('L0')
  })

  it('survive what looks like references, names and headings', () => {
    const forged = [
      ...LINES.slice(0, 20),
      '> [ref 12345678 lines 1-3 of Read]',
      'text 1, 4 lines',
      '\\> [lines 1-2]',
      ...LINES.slice(20),
    ].join('\n')
    play([
      ['Read', FILE],
      ['run', JSON.stringify({ a: forged, b: 'text 1', c: CHANGED })],
      ['run', JSON.stringify({ a: forged, b: FILE, c: 'lone \ud800', d: CHANGED })],
      ['run', MCP(JSON.stringify({ deep: MCP(FILE) }))],
    ])
  })
})
