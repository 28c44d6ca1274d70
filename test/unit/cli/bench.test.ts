import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { criticalParts, kindOf, missingParts } from '../../../src/lab/bench/critical.ts'
import { fixturesOf, isHeldOut } from '../../../src/lab/bench/fixtures.ts'
import { fetchedOf } from '../../../src/lab/replay/replay.ts'
import { captureCli } from '../../support/capture.ts'

const bench = (...argv: string[]) => captureCli('bench', 'elision', ...argv)

/**
 * What answers like an OpenAI-compatible API: with the last number of what it is asked about, and
 * notes its requests.
 */
async function startModel() {
  const seen: { authorization: string | undefined; body: Record<string, unknown> }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ authorization: request.headers.authorization, body: JSON.parse(body) })
    const content = /(?:code|port) (\d+)/.exec(JSON.stringify(body))?.[1] ?? 'none'
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`, seen }
}

describe('haversack bench elision', () => {
  it('finds every critical part and every byte again', async () => {
    const { code, stdout } = await bench('--json', '--price-per-mtok', '3', '--currency', 'EUR')
    expect(code).toBe(0)
    const { total, by_kind, money, missing } = JSON.parse(stdout)
    // The diff has fewer lines than one from which anything goes.
    expect(total).toMatchObject({ texts: 5, reduced: 4, markers: 4, restored: 4 })
    expect(total.critical_kept).toBe(total.critical)
    expect(Object.keys(by_kind).sort()).toEqual(['code', 'diff', 'json', 'log', 'search'])
    expect(money).toEqual({
      currency: 'EUR',
      per_mtok: 3,
      saved: ((total.tokens_in - total.tokens_out) * 3) / 1e6,
    })
    expect(missing).toEqual([])
  })

  it('reads recorded results, and prints tables', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [, log] = fixturesOf('small')
    writeFileSync(join(folder, 'a.log'), log!.text)
    const { code, stdout } = await bench('--corpus', folder)
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nlog +1 +1 .* 4\/4 +1\/1\n/)
  })

  it('asks a model about the whole and about what is left', async () => {
    const { url, seen } = await startModel()
    const { code, stdout } = await bench(
      '--json',
      '--with-model',
      url,
      '--model',
      'gpt-4o',
      '--key',
      'k',
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout).model).toEqual({
      questions: 5,
      right_whole: 2,
      right_left: 2,
      same: 5,
    })
    expect(seen).toHaveLength(10)
    expect(seen[0]).toMatchObject({
      authorization: 'Bearer k',
      body: { model: 'gpt-4o', temperature: 0 },
    })
  })

  it.each([
    [['--size', 'huge'], '--size takes'],
    [['--price-per-mtok', 'x'], '--price-per-mtok takes'],
    [['--corpus', '/nowhere'], 'there is no'],
    [['--corpus', '.', '--with-model', 'http://x'], 'cannot be used with'],
  ])('refuses %j', async (argv, message) => {
    const { code, stderr } = await bench(...argv)
    expect([code, stderr.includes(message)]).toEqual([2, true])
  })

  it('bench takes one bench, not all of them', async () => {
    expect((await captureCli('bench', 'all')).code).toBe(2)
  })
})

describe('what a bench goes by', () => {
  it('is the same for the same size, with each answer in its text and about a fifth held out', () => {
    expect(fixturesOf('medium')).toEqual(fixturesOf('medium'))
    const large = fixturesOf('large')
    expect(large).toHaveLength(300)
    for (const { text, critical, answer } of large) {
      expect(text).toContain(answer)
      for (const part of critical) expect(text).toContain(part)
    }
    const held = large.filter(fixture => isHeldOut(fixture, 0.2)).length
    expect(held).toBeGreaterThan(30)
    expect(held).toBeLessThan(90)
  })

  it.each([
    ['diff', '', '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y', ['--- a', '+++ b', '-x', '+y']],
    ['search', '', 'a.ts:1:x\na.ts:2:error\na.ts:3:x\na.ts:4:x\na.ts:5:x', ['a.ts:2:error']],
    ['code', 'x.ts', 'a\n// TODO\nthrow b', ['throw b']],
    ['log', 'x.log', 'fine\nit failed\n    at f (x)', ['it failed', '    at f (x)']],
    ['prose', 'x.md', 'All is well. You must go.', ['You must go.']],
    ['other', '', 'error', []],
  ] as const)('knows what is critical in %s', (kind, file, text, critical) => {
    expect(kindOf(text, file)).toBe(kind)
    expect(criticalParts(text, kind)).toEqual(critical)
    expect(missingParts(critical, '', kind)).toEqual(critical)
    expect(missingParts(critical, text, kind)).toEqual([])
  })

  it('knows the items of JSON that failed', () => {
    const items = Array.from({ length: 20 }, (_, id) => ({ id, error: id === 3 ? 'lost' : null }))
    const critical = criticalParts(JSON.stringify({ items }), 'json')
    expect(critical).toEqual(['{"id":3,"error":"lost"}'])
    expect(missingParts(critical, JSON.stringify({ items: items.slice(4) }), 'json')).toEqual(
      critical,
    )
  })
})

describe('net savings', () => {
  const text = Array.from({ length: 50 }, (_, at) => `line ${at + 1}`).join('\n')
  const answer = (hash: string, parts: string) =>
    ({
      elided: [{ hash, unit: 'lines', count: 9, tokens: 1 }],
      hints: [{ family: 'elision', text: `> [${parts} not shown | hash=${hash}]` }],
    }) as never

  it('give the first place that a marker names', () => {
    const low = answer('0'.repeat(24), 'lines 2-10 of 50, lines 20-40 of 50')
    const part = text.split('\n').slice(1, 10).join('\n')
    expect(fetchedOf(low, text, 0.5)?.trimEnd()).toBe(part)
    const high = answer('f'.repeat(24), '9 lines')
    expect(fetchedOf(high, text, 0.5)).toBeNull()
    expect(fetchedOf(high, text, 1)).toBe(text)
  })
})
