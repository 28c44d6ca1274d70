import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgress } from '../../../src/console/progress.ts'

function drawn(total: number, count: number): string[] {
  const lines: string[] = []
  const out = { isTTY: true, write: (text: string) => lines.push(text) }
  const progress = createProgress('mine', total, out as unknown as typeof process.stderr)
  for (let i = 0; i < count; i++) progress.advance()
  progress.done()
  return lines
}

beforeEach(() => void vi.stubEnv('LC_ALL', 'C.UTF-8'))
afterEach(() => void vi.unstubAllEnvs())

describe('createProgress', () => {
  it('is ASCII where UTF-8 is not shown', () => {
    vi.stubEnv('LC_ALL', 'C')
    expect(drawn(2, 1)[0]).toBe(`\rmine ${'#'.repeat(15)}${'.'.repeat(15)} 1/2`)
  })

  it('draws each percent once, and clears the line', () => {
    const lines = drawn(1_000, 1_000)
    expect(lines).toHaveLength(102)
    expect(lines[50]).toContain('█'.repeat(15) + '░'.repeat(15))
    expect(lines.at(-1)).toBe('\r\x1b[K')
  })

  it('stays full where there is more than was told, as of files that grow', () => {
    const lines = drawn(2, 5)
    expect(lines.at(-2)).toContain(`${'█'.repeat(30)} 2/2`)
  })
})
