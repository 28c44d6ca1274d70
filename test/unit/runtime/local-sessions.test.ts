import { describe, expect, it } from 'vitest'
import { createLocalSessions } from '../../../src/library/local-sessions.ts'
import { counters } from '../../support/vocabularies.ts'

const context = {
  counters,
  maxDepth: 64,
  maxDecodedChars: 1_000_000,
  keepsOriginals: false,
}
const source = Array.from({ length: 40 }, (_, i) => {
  return `${(7919 * (i + 3)).toString(36)}(${i * i}) // ${(i * 104729).toString(36)}`
}).join('\n')

describe('sessions of one process', () => {
  const start = () => createLocalSessions(context, { bodyBytes: 1 << 20 })
  const write = { session: 's', tool: 'Write', args: { file_path: 'a', content: source } }
  const later = `${source}\nand one more line`
  const read = { session: 's', tool: 'Read', args: { file_path: 'a' }, content: later }

  it('refer to what the agent gave to a tool', () => {
    const local = start()
    local.encode({ ...write, content: 'written' })
    const { content, format } = local.encode(read)
    expect(format).toBe('lines@1')
    expect(content).toContain('Write.content')
    expect(local.decode({ content, format, session: 's' }).content).toBe(later)
  })

  it('refer to lines of a diff, which kept its lines when it was sent', () => {
    const local = start()
    const added = source.split('\n').map(line => `+${line}`)
    const diff = [
      ...['diff --git a/a.ts b/a.ts', 'index 7c1e7ca..e38a6dd 100644', '--- a/a.ts', '+++ b/a.ts'],
      ...[`@@ -6 +6,${added.length + 1} @@`, ' f()', ...added],
    ].join('\n')
    const call = {
      session: 's',
      tool: 'Bash',
      args: { command: 'git diff' },
      reading: 'dense',
    } as const
    expect(local.encode({ ...call, content: diff }).format).toBe('diff@1')
    const later = ['once more', ...added.slice(5), 'the end'].join('\n')
    const { content, format } = local.encode({ ...call, content: later })
    expect(format).toBe('lines@1')
    expect(content).toContain(`lines 12-${6 + added.length} of Bash`)
    expect(local.decode({ content, format, session: 's' }).content).toBe(later)
  })

  it('do not where the call was refused, and nothing of it is kept', () => {
    const local = start()
    const refused = { ...write, content: 'a result that is longer than this', budget_tokens: 1 }
    expect(() => local.encode(refused)).toThrow('budget_too_small')
    expect(local.encode(read)).toMatchObject({ content: later, hints: [] })
  })

  it('do not where the agent got only parts', () => {
    const local = start()
    const trimmed = local.encode({ ...read, mode: 'trim', budget_tokens: 200 })
    expect(trimmed).toMatchObject({ lossless: false, truncated: true })
    expect(trimmed).not.toHaveProperty('ref')
    expect(local.encode(read)).toMatchObject({ content: later, hints: [] })
    expect(local.encode(read)).toMatchObject({ layer: 'L0' })
  })
})
