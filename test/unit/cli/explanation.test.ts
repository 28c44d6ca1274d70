import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { captureCli } from '../../support/capture.ts'
import { word } from '../../support/made-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-explanation-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, value: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(value))
  return path
}

const items = Array.from({ length: 80 }, (_, id) => ({
  id,
  name: word(id),
  text: word(id * 7 + 9),
}))
const nested = file('nested.json', { meta: { page: 1, tags: ['red one', 'blue'] }, items })
const explain = (...argv: string[]) => captureCli('encode', '--explain', ...argv)

describe('encode --explain', () => {
  it('shows each part of a tree below the one that it is in', async () => {
    const { code, stdout } = await explain(nested)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^L2 +tree@2 .* sent$/m)
    expect(stdout).toMatch(/^\$ +lines +[\d.,]+ +lines [\d.,]+, brackets [\d.,]+$/m)
    expect(stdout).toMatch(/^ {2}\.meta +lines /m)
    expect(stdout).toMatch(/^ {4}\.tags +brackets /m)
    expect(stdout).toMatch(/^ {2}\.items +table /m)
  })

  it('shows the tokens, the price and the constructs of each candidate', async () => {
    const paths = items.map(({ id }) => `src/components/buttons/red-${id}.ts`)
    const path = join(folder, 'paths.txt')
    writeFileSync(path, paths.join('\n'))
    const { stdout } = await explain(path)
    const [, tokens, price] = /^L2 +prefixed@1;dots +(\d+) +(\d+) +heading ×1 .* sent$/m.exec(
      stdout,
    )!
    // 30 for the text, a tenth of its tokens, and 10 for the heading.
    expect(Number(price)).toBe(Number(tokens) + Math.ceil(30 + 0.1 * Number(tokens) + 10))
  })

  it('says how many parts are not shown', async () => {
    const prose =
      'a text: with commas, "quotes", {braces} and [brackets], which lines need not escape'
    const many = Object.fromEntries(
      items.flatMap(({ id, name }) => [
        [name, { [`k${id}`]: prose, [`l${id}`]: `${prose} ${id}` }],
        [`s${id}`, id],
      ]),
    )
    const { stdout } = await explain(file('many.json', many))
    expect(stdout).toMatch(/^… \d+ more parts$/m)
    expect(stdout.split('\n').length).toBeLessThan(90)
  })

  it('shows the plan of a budget, though nothing keeps originals here', async () => {
    const { code, stdout } = await explain('--mode', 'trim', '--budget', '500', nested)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^L2 +tree@2 .* above the budget$/m)
    expect(stdout).toMatch(/^budget: 500 tokens; the text takes \d+, in trimmed@1;/m)
    expect(stdout).toMatch(/^worth kept: [\d.]+ of [\d.]+ \(\d+\.\d %\)$/m)
    expect(stdout).toMatch(/^at most possible: [\d.]+, proven best$/m)
    expect(stdout).toMatch(/^\$\.items\S* +\d+ /m)
    expect(stdout).not.toContain('part of')
  })

  it('gives the same as JSON', async () => {
    const { stdout } = await explain('--json', '--mode', 'trim', '--budget', '500', nested)
    const explanation = JSON.parse(stdout) as { final: number; plan: { optimal: boolean } }
    expect(explanation.plan.optimal).toBe(true)
    expect(explanation.final).toBeLessThanOrEqual(500)
  })

  it('fails where encode would, and does not go with a session', async () => {
    const small = await explain('--budget', '3', nested)
    expect([small.code, small.stdout]).toEqual([1, ''])
    expect(small.stderr).toContain('budget_too_small')
    expect((await explain('--session', 's', nested)).code).toBe(2)
  })
})
