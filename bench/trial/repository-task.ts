import type { Random } from '../../src/lab/bill/statistics.ts'
import { runTests } from './run-tests.ts'
import { answer, lines, type NumberedLine, numbered, type Solving } from './solving.ts'
import type { Task, TaskKind, World } from './task.ts'
import { between, pick, shuffle, wordPairs } from './words.ts'

/** How a charge is made up: what the handbook says of it, and what its function does. */
interface Rule {
  readonly base: number
  readonly step: number
  readonly limit: number
  readonly less: number
  /** Whether the limit itself counts. */
  readonly from: boolean
  readonly adds: readonly string[]
}

interface Named extends Rule {
  readonly name: string
  readonly file: string
}

const LAYERS = 4
const RULES_OF_A_FILE = 6
const HANDBOOK = 'docs/handbook.md'
const RUN = 'test/run.mjs'

/** A repository with one rule that deviates from its handbook, shown by a failing test. */
export const repositoryTask: TaskKind = {
  name: 'repository',
  make(random) {
    const rules = makeRules(random, between(random, 20, 56))
    const value = valuesOf(rules)
    const tops = rules.filter((_, at) => at < 8)
    // What is planted is never what the report names.
    const top = pick(random, tops)
    const deeper = [...reachable(rules, top.name)].filter(name => name !== top.name)
    const chosen = pick(random, deeper)
    const planted = rules.find(({ name }) => name === chosen)!
    const broken = deviate(random, planted)
    const wrong = valuesOf(rules.map(rule => (rule === planted ? broken : rule)))
    const days = shuffle(random, numbersTo(40)).find(
      n => wrong(top.name, n) !== value(top.name, n),
    )!
    const checks = tops.map(({ name }) => ({
      name,
      days: name === top.name ? days : between(random, 1, 30),
    }))
    const failing = checks.find(({ name, days: n }) => wrong(name, n) !== value(name, n))!
    const files = (of: readonly Named[]) =>
      new Map([...sources(of), [HANDBOOK, handbook(rules)], [RUN, testFile(checks, rules, value)]])
    const right = files(rules)
    const before = rules.map(rule => (rule === planted ? broken : rule))
    const got = wrong(top.name, days)
    const task: Task = {
      prompt: `This repository computes the charges of a harbor. Since the last change the ${words(top.name)} charge for ${days} days comes out as ${got}. ${HANDBOOK} says how each charge is made up. One function in src deviates from it. Correct that function, and change nothing else. Run the tests. Then answer with the path of the file that you changed, a space, and what the first failing test expected.`,
      createWorld: () => ({ files: files(before), api: () => null }),
      answer: `${planted.file} ${value(failing.name, failing.days)}`,
      grade: world => grade(world, { right, planted, answer: task.answer, value }),
    }
    return task
  },
  solve: prompt => (prompt.includes('charges of a harbor') ? solve() : null),
}

const numbersTo = (most: number) => Array.from({ length: most }, (_, at) => at + 1)
const words = (name: string) => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

/** Rules in layers: each adds rules of the next layer, so chains end. */
function makeRules(random: Random, files: number): readonly Named[] {
  const names = wordPairs(random, files * RULES_OF_A_FILE)
  const layerOf = (at: number) => Math.floor((LAYERS * at) / names.length)
  const layers: Named[][] = Array.from({ length: LAYERS }, () => [])
  for (const [at, [first, second]] of [...names.entries()].toReversed()) {
    const layer = layerOf(at)
    const next = layers[layer + 1] ?? []
    const adds = next.length === 0 ? [] : shuffle(random, next).slice(0, between(random, 1, 2))
    const file = Math.floor(at / RULES_OF_A_FILE)
    layers[layer]!.unshift({
      name: first + second[0]!.toUpperCase() + second.slice(1),
      file: `src/${names[file]![1]}/${names[file]![0]}-${file}.mjs`,
      base: between(random, 10, 90),
      step: between(random, 2, 19),
      limit: between(random, 5, 20),
      less: between(random, 2, 9),
      from: random(2) === 0,
      adds: adds.map(({ name }) => name),
    })
  }
  return layers.flat()
}

function reachable(rules: readonly Named[], name: string): ReadonlySet<string> {
  const adds = new Map(rules.map(rule => [rule.name, rule.adds]))
  const found = new Set([name])
  for (const each of found) for (const added of adds.get(each) ?? []) found.add(added)
  return found
}

function valuesOf(rules: readonly Named[]): (name: string, days: number) => number {
  const byName = new Map(rules.map(rule => [rule.name, rule]))
  const value = (name: string, days: number): number => {
    const { base, step, limit, less, from, adds } = byName.get(name)!
    const reduced = from ? days >= limit : days > limit
    const own = base + step * days - (reduced ? less : 0)
    return adds.reduce((sum, added) => sum + value(added, days + 1), own)
  }
  return value
}

function deviate(random: Random, rule: Named): Named {
  const key = pick(random, ['base', 'step', 'limit', 'less', 'from'] as const)
  return { ...rule, [key]: key === 'from' ? !rule.from : rule[key] + between(random, 1, 3) }
}

function functionOf({ name, base, step, limit, less, from, adds }: Named): string {
  return [
    `/** The charge of the ${words(name)}, by its days. */`,
    `export function ${name}(days) {`,
    `  const base = ${base}`,
    `  const step = ${step}`,
    '  let total = base + step * days',
    `  if (days ${from ? '>=' : '>'} ${limit}) total -= ${less}`,
    ...adds.map(added => `  total += ${added}(days + 1)`),
    '  return total',
    '}',
    '',
  ].join('\n')
}

function sources(rules: readonly Named[]): readonly (readonly [string, string])[] {
  const files = Map.groupBy(rules, ({ file }) => file)
  const fileOf = new Map(rules.map(({ name, file }) => [name, file]))
  return [...files].map(([path, own]) => {
    const added = new Set(own.flatMap(({ adds }) => adds))
    const imports = [...added].filter(name => fileOf.get(name) !== path)
    const lines = imports.map(name => `import { ${name} } from '../../${fileOf.get(name)}'`)
    return [path, [...lines, ...(lines.length > 0 ? [''] : []), ...own.map(functionOf)].join('\n')]
  })
}

function handbook(rules: readonly Named[]): string {
  const sections = rules.map(({ name, base, step, limit, less, from, adds }) =>
    [
      `### ${name}`,
      `- base ${base}, and ${step} for each day`,
      `- ${from ? `from ${limit} days on` : `for more than ${limit} days`}: ${less} less`,
      adds.length === 0 ? '- adds nothing' : `- adds ${adds.join(' and ')}, for a day more`,
      '',
    ].join('\n'),
  )
  return ['# Handbook of charges', '', ...sections].join('\n')
}

interface Check {
  readonly name: string
  readonly days: number
}

function testFile(
  checks: readonly Check[],
  rules: readonly Named[],
  value: (name: string, days: number) => number,
): string {
  const fileOf = new Map(rules.map(({ name, file }) => [name, file]))
  return [
    ...checks.map(({ name }) => `import { ${name} } from '../${fileOf.get(name)}'`),
    '',
    'const check = (name, got, wanted) => {',
    '  const isOk = got === wanted',
    "  console.log(isOk ? 'ok ' + name : 'not ok ' + name + ': expected ' + wanted + ', got ' + got)",
    '}',
    ...checks.map(({ name, days }) => `check('${name}', ${name}(${days}), ${value(name, days)})`),
    '',
  ].join('\n')
}

interface Ending {
  readonly right: ReadonlyMap<string, string>
  readonly planted: Named
  readonly answer: string
  readonly value: (name: string, days: number) => number
}

/** The other files are as they were, and the function gives what it should for all days. */
async function grade(
  world: World,
  { right, planted, answer, value }: Ending,
): Promise<string | null> {
  if (world.answer !== answer) return `the answer is ${world.answer}, not ${answer}`
  const paths = new Set([...right.keys(), ...world.files.keys()])
  const changed = [...paths].filter(path => world.files.get(path) !== right.get(path))
  if (changed.length === 0) return null
  const other = changed.find(path => path !== planted.file)
  if (other !== undefined) return `${other} is not as it was`
  // Written in another way: every rule of the file is called.
  const checks = numbersTo(40).map(
    days => `check(${planted.name}(${days}), ${value(planted.name, days)})`,
  )
  const test = [
    `import { ${planted.name} } from '../${planted.file}'`,
    "const check = (got, wanted) => got !== wanted && console.log('not ok')",
    ...checks,
  ].join('\n')
  const own = await runTests(world.files)
  const hidden = await runTests(new Map([...world.files, [RUN, test]]))
  return own.includes('not ok') || hidden !== '' ? 'the tests fail' : null
}

/** What a reader of a function's lines finds there. */
function ruleOf(read: readonly NumberedLine[], name: string) {
  const start = read.findIndex(({ text }) => text.startsWith(`export function ${name}(`))
  const own = read.slice(
    start,
    read.findIndex(({ text }, at) => at > start && text === '}'),
  )
  const all = own.map(({ text }) => text)
  const found = (pattern: RegExp) => pattern.exec(all.join('\n')) ?? []
  const [, sign, limit, less] = found(/days (>=?) (\d+)\) total -= (\d+)/)
  return {
    lines: all,
    base: Number(found(/const base = (\d+)/)[1]),
    step: Number(found(/const step = (\d+)/)[1]),
    limit: Number(limit),
    less: Number(less),
    from: sign === '>=',
    adds: all.flatMap(line => /total \+= (\w+)\(/.exec(line)?.[1] ?? []),
  }
}

function wanted(section: readonly NumberedLine[]): Rule {
  const all = section.map(({ text }) => text).join('\n')
  const [, base, step] = /base (\d+), and (\d+)/.exec(all) ?? []
  const [, words, limit] = /(from|more than) (\d+) days/.exec(all) ?? []
  return {
    base: Number(base),
    step: Number(step),
    limit: Number(limit),
    less: Number(/: (\d+) less/.exec(all)?.[1]),
    from: words === 'from',
    adds: [],
  }
}

/** The first failing test, and what it expected. */
function failing(read: readonly string[]): readonly string[] {
  const line = read.find(each => each.startsWith('not ok')) ?? ''
  return /^not ok (\w+): expected (\S+),/.exec(line)?.slice(1) ?? []
}

/** Compares functions with the handbook, from the failing one down to the one that deviates. */
function* solve(): Solving<void> {
  const first = yield* lines({ tool: 'test', args: {} }, read => failing(read)[0])
  const waiting = [first!]
  const seen = new Set(waiting)
  for (const name of waiting) {
    const { path, line } = yield* lines({ tool: 'search', args: { text: name } }, hits => {
      return {
        path: hits.find(hit => hit.includes(`export function ${name}(`))?.split(':')[0] ?? '',
        line: Number(hits.find(hit => hit.endsWith(`:### ${name}`))?.split(':')[1]),
      }
    })
    const is = yield* numbered({ tool: 'read', args: { path } }, read => ruleOf(read, name))
    const part = { path: HANDBOOK, offset: line, limit: 4 }
    const should = yield* numbered({ tool: 'read', args: part }, wanted)
    const edited = is.lines.map(text => corrected(text, should))
    const at = edited.findIndex((text, i) => text !== is.lines[i])
    if (at !== -1) {
      const old = is.lines.slice(0, at + 1).join('\n')
      const fresh = edited.slice(0, at + 1).join('\n')
      yield* lines({ tool: 'edit', args: { path, old, new: fresh } }, () => null)
      yield* numbered({ tool: 'read', args: { path } }, read => ruleOf(read, name))
      yield* lines({ tool: 'test', args: {} }, read => read.length)
      const expected = yield* lines(0, read => failing(read)[1])
      yield* answer(`${path} ${expected}`)
      return
    }
    for (const added of is.adds) {
      if (!seen.has(added)) waiting.push(added)
      seen.add(added)
    }
  }
}

/** A line of a function as the handbook wants it. */
function corrected(text: string, { base, step, limit, less, from }: Rule): string {
  if (text.startsWith('  const base = ')) return `  const base = ${base}`
  if (text.startsWith('  const step = ')) return `  const step = ${step}`
  if (!text.startsWith('  if (days ')) return text
  return `  if (days ${from ? '>=' : '>'} ${limit}) total -= ${less}`
}
