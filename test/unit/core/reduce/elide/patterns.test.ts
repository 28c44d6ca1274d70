import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { regexLiterals } from '../../../../support/regex-literals.ts'
import { FULL_RUNS, SEED } from '../../../../support/runs.ts'

const FOLDER = new URL('../../../../../src/core/reduce/elide/', import.meta.url)

const files = readdirSync(FOLDER).map(name => ({
  name,
  code: readFileSync(new URL(name, FOLDER), 'utf8'),
}))
const literals = files.flatMap(({ name, code }) =>
  regexLiterals(code).map(({ source, flags }) => ({ name, source, flags })),
)

describe('patterns of elision', () => {
  // Its own code in JavaScript, in this process: neither a JVM nor a program of its own.
  const backends = { RECHECK_BACKEND: 'pure', RECHECK_SYNC_BACKEND: 'pure' }
  let checkSync: typeof import('recheck').checkSync

  beforeAll(() => {
    Object.assign(process.env, backends)
    ;({ checkSync } = createRequire(import.meta.url)('recheck') as typeof import('recheck'))
  })
  afterAll(() => {
    for (const name of Object.keys(backends)) delete process.env[name]
  })

  it('are literals, so that all of them are looked at here', () => {
    expect(files.filter(({ code }) => code.includes('RegExp('))).toEqual([])
    const used = files.map(({ code }) =>
      code.match(/\/[a-z]*\.(?:test|exec)\(|[A-Z]\.(?:test|exec)\(/g),
    )
    expect(literals.length).toBeGreaterThan(40)
    expect(used.flat().filter(Boolean).length).toBeGreaterThan(40)
  })

  it('are told from one that backtracks badly', () => {
    expect(checkSync('^(?:a+)+$', '').status).toBe('vulnerable')
    expect(checkSync('\\s+$', '').status).toBe('vulnerable')
  })

  // A short run looks at every thirtieth, other ones each time.
  const looked = literals.filter((_, index) => FULL_RUNS || index % 30 === SEED % 30)

  it.each(looked)('$name: $source backtracks at most linearly', ({ source, flags }) => {
    const found = checkSync(source, flags, { timeout: null })
    expect(found.status, JSON.stringify(found)).toBe('safe')
  })
})
