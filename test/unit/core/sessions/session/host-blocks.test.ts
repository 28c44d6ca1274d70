import { describe, expect, it } from 'vitest'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'
import { FULL_RUNS } from '../../../../support/runs.ts'

const BOATS = ['Anna', 'Berta', 'Clara', 'Dora', 'Emma', 'Frieda']
const RULES = BOATS.map((boat, i) => `${boat} must moor ${'far '.repeat(i)}from the others.`)
const BLOCK = ['<system-reminder>', ...RULES, '</system-reminder>'].join('\n')
const lines = (name: string) =>
  Array.from({ length: 30 }, (_, i) => `${name}(${i * 7919}) // of it`)
const numbered = (name: string) => lines(name).map((line, i) => `${i + 1}\t${line}`)
const withBlock = (all: readonly string[]) => [...all, '', BLOCK].join('\n')

function session(host_blocks: readonly string[] = []) {
  const pipeline = pipelineSchema.parse({ dedup: { host_blocks } })
  const sessions = createLocalSessions({ ...localContext(), pipeline }, { bodyBytes: 1 << 20 })
  return (name: string, content: string) => {
    const args = { file_path: `${name}.ts` }
    const answer = sessions.encode({ session: 's', tool: 'Read', args, content })
    const { format } = answer
    expect(sessions.decode({ session: 's', content: answer.content, format }).content).toBe(content)
    return answer.content
  }
}

describe('what a host says in a result', () => {
  it('stays as it is where it comes again', () => {
    const encode = session()
    for (const name of ['a', 'b']) expect(encode(name, withBlock(lines(name)))).toContain(BLOCK)
    for (const name of ['c', 'd']) expect(encode(name, withBlock(numbered(name)))).toContain(BLOCK)
    const again = encode('e', withBlock(lines('a').with(9, 'changed')))
    expect(again).toMatch(/^> \[ref /)
    expect(again).toContain(BLOCK)
  })

  it('is a reference if it is named, also beside numbered lines', () => {
    const encode = session(['system-reminder'])
    expect(encode('a', withBlock(numbered('a')))).toContain(BLOCK)
    for (const name of ['b', 'c', 'd', 'e', 'f']) {
      const answer = encode(name, withBlock(numbered(name)))
      expect(answer).not.toContain(RULES[0])
      expect(answer).toMatch(/> \[ref \w+ lines 1-8 of Read\.system-reminder \d calls? ago\]$/)
    }
  })

  it('is not named by the name of another block', () => {
    const encode = session(['user-note'])
    for (const name of ['a', 'b']) expect(encode(name, withBlock(numbered(name)))).toContain(BLOCK)
  })

  it('takes linear time if it is said on each of many lines, in each result', () => {
    const { encode, decode } = createLocalSessions(localContext(), { bodyBytes: 1 << 24 })
    const said = '<system-reminder>x</system-reminder>\n'.repeat(FULL_RUNS ? 25_000 : 1_000)
    for (const end of ['one', 'two', 'three', 'four']) {
      const content = said + end
      const answer = encode({ session: 's', tool: 'Bash', args: { end }, content })
      const { format } = answer
      expect(decode({ session: 's', content: answer.content, format }).content).toBe(content)
    }
  })

  it('what a host says is no bulk', () => {
    const log = Array.from({ length: 300 }, (_, i) => `12:00:${10 + (i % 50)} INFO step ${i} done`)
    const content = [...log.slice(0, 150), BLOCK, ...log.slice(150)].join('\n')
    const context = { ...localContext(), keepsOriginals: true }
    const { answer } = encodeOperation.run({ content, mode: 'elide', min_saved_tokens: 0 }, context)
    expect(answer.lossless).toBe(false)
    for (const rule of RULES) expect(answer.content).toContain(rule)
  })
})
