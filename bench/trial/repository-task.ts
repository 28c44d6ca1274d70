import type { Random } from '../../src/lab/bill/statistics.ts'
import { runTests } from './run-tests.ts'
import { answer, lines, type NumberedLine, numbered, type Solving } from './solving.ts'
import { type TaskKind, taskOf } from './task.ts'
import { between, pick, shuffle, wordPairs } from './words.ts'

/** How a charge is made up: what the handbook says of it, and what its function does. */
interface Rule {
  readonly base: number
  readonly step: number
  readonly limit: number
  readonly less: number
  /** Whether the limit itself counts. */
  readonly from: boolean
}

interface Named extends Rule {
  readonly name: string
  readonly file: string
  readonly adds: readonly string[]
}

type Value = (name: string, days: number) => number

const LAYERS = 4
const RULES_OF_A_FILE = 6
const MOST_DAYS = 40
const HANDBOOK = 'docs/handbook.md'
const RUN = 'test/run.mjs'

const words = (name: string) => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

/** Rules in layers: each adds rules of the next layer, so chains end. */
function makeRules(random: Random, files: number): readonly Named[] {
  const names = wordPairs(random, files * RULES_OF_A_FILE)
  const layers: Named[][] = Array.from({ length: LAYERS + 1 }, () => [])
  for (const [at, [first, second]] of [...names.entries()].toReversed()) {
    const layer = Math.floor((LAYERS * at) / names.length)
    const file = Math.floor(at / RULES_OF_A_FILE)
    layers[layer]!.unshift({
      name: first + second[0]!.toUpperCase() + second.slice(1),
      file: `src/${names[file]![1]}/${names[file]![0]}-${file}.mjs`,
      ...{ base: between(random, 10, 90), step: between(random, 2, 19) },
      ...{ limit: between(random, 5, 20), less: between(random, 2, 9), from: random(2) === 0 },
      adds: shuffle(random, layers[layer + 1]!)
        .slice(0, between(random, 1, 2))
        .map(({ name }) => name),
    })
  }
  return layers.flat()
}

/** The rules that a charge is made up of, its own among them. */
function reachable(rules: readonly Named[], name: string): ReadonlySet<string> {
  const adds = new Map(rules.map(rule => [rule.name, rule.adds]))
  const found = new Set([name])
  for (const each of found) for (const added of adds.get(each) ?? []) found.add(added)
  return found
}

function valuesOf(rules: readonly Named[]): Value {
  const byName = new Map(rules.map(rule => [rule.name, rule]))
  return function value(name, days): number {
    const { base, step, limit, less, from, adds } = byName.get(name)!
    const isLess = from ? days >= limit : days > limit
    const own = base + step * days - (isLess ? less : 0)
    return adds.reduce((sum, added) => sum + value(added, days + 1), own)
  }
}

function deviate(random: Random, rule: Named): Named {
  const key = pick(random, ['base', 'step', 'limit', 'less', 'from'] as const)
  return { ...rule, [key]: key === 'from' ? !rule.from : rule[key] + between(random, 1, 3) }
}

/** The lines of a function that its rule is in. */
const headOf = (name: string, { base, step, limit, less, from }: Rule) =>
  [
    `export function ${name}(days) {`,
    `  const base = ${base}`,
    `  const step = ${step}`,
    '  let total = base + step * days',
    `  if (days ${from ? '>=' : '>'} ${limit}) total -= ${less}`,
  ].join('\n')

const functionOf = (rule: Named) =>
  [
    `/** The charge of the ${words(rule.name)}, by its days. */`,
    headOf(rule.name, rule),
    ...rule.adds.map(added => `  total += ${added}(days + 1)`),
    '  return total\n}\n',
  ].join('\n')

const sectionOf = ({ name, base, step, limit, less, from, adds }: Named) =>
  [
    `### ${name}`,
    `- base ${base}, and ${step} for each day`,
    `- ${from ? `from ${limit} days on` : `for more than ${limit} days`}: ${less} less`,
    adds.length === 0 ? '- adds nothing' : `- adds ${adds.join(' and ')}, for a day more`,
    '',
  ].join('\n')

/** Imports of rules, for a file so many folders below the root. */
function importsOf(names: readonly string[], rules: readonly Named[], root: string): string {
  const fileOf = new Map(rules.map(({ name, file }) => [name, file]))
  return names.map(name => `import { ${name} } from '${root}${fileOf.get(name)}'\n`).join('')
}

function sourcesOf(rules: readonly Named[]): readonly (readonly [string, string])[] {
  return [...Map.groupBy(rules, ({ file }) => file)].map(([path, own]) => {
    const added = new Set(own.flatMap(({ adds }) => adds))
    const others = [...added].filter(name => own.every(rule => rule.name !== name))
    const imports = importsOf(others, rules, '../../')
    return [path, `${imports}${imports && '\n'}${own.map(functionOf).join('\n')}`]
  })
}

interface Check {
  readonly name: string
  readonly days: number
}

function testOf(checks: readonly Check[], rules: readonly Named[], value: Value): string {
  return [
    importsOf([...new Set(checks.map(({ name }) => name))], rules, '../'),
    'const check = (name, got, wanted) => {',
    '  const isOk = got === wanted',
    "  console.log(isOk ? 'ok ' + name : 'not ok ' + name + ': expected ' + wanted + ', got ' + got)",
    '}',
    ...checks.map(({ name, days }) => `check('${name}', ${name}(${days}), ${value(name, days)})`),
    '',
  ].join('\n')
}

/** A repository with one rule that deviates from its handbook, shown by a failing test. */
export const repositoryTask: TaskKind = {
  name: 'repository',
  make(random) {
    const rules = makeRules(random, between(random, 20, 56))
    const value = valuesOf(rules)
    const tops = rules.slice(0, 8).map(({ name }) => name)
    // What is planted is never what the report names.
    const top = pick(random, tops)
    const deeper = [...reachable(rules, top)].filter(name => name !== top)
    const chosen = pick(random, deeper)
    const { file } = rules.find(({ name }) => name === chosen)!
    const before = rules.map(rule => (rule.name === chosen ? deviate(random, rule) : rule))
    const got = valuesOf(before)
    const numbers = Array.from({ length: MOST_DAYS }, (_, at) => at + 1)
    const isWrong = ({ name, days }: Check) => got(name, days) !== value(name, days)
    const shown = shuffle(random, numbers).find(days => isWrong({ name: top, days }))!
    const checks = tops.map(name => {
      return { name, days: name === top ? shown : between(random, 1, 30) }
    })
    const failing = checks.find(isWrong)!
    const book = ['# Handbook of charges', '', ...rules.map(sectionOf)].join('\n')
    const filesOf = (of: readonly Named[]) =>
      new Map([...sourcesOf(of), [HANDBOOK, book], [RUN, testOf(checks, rules, value)]])
    const right = filesOf(rules)
    const prompt = `This repository computes the charges of a harbor. Since the last change the ${words(top)} charge for ${shown} days comes out as ${got(top, shown)}. ${HANDBOOK} says how each charge is made up. One function in src deviates from it. Correct that function, and change nothing else. Run the tests. Then answer with the path of the file that you changed, a space, and what the first failing test expected.`
    return taskOf(prompt, `${file} ${value(failing.name, failing.days)}`, {
      ...{ files: filesOf(before), right },
      free: {
        path: file,
        /** Written in another way: all rules of the file give what they should, for all days. */
        async check(files) {
          if (files.get(file) === right.get(file)) return null
          const own = rules.filter(rule => rule.file === file)
          const all = own.flatMap(({ name }) => numbers.map(days => ({ name, days })))
          const test = testOf(all, rules, value)
          const printed = (await runTests(new Map([...files, [RUN, test]]))).split('\n')
          const isRight = printed.length === all.length && printed.every(each => /^ok /.test(each))
          return isRight ? null : 'the tests fail'
        },
      },
    })
  },
  prompt: /charges of a harbor/,
  solve,
}

const FUNCTION =
  /const base = (\d+)\n +const step = (\d+)\n.*\n +if \(days (>=?) (\d+)\) total -= (\d+)((?:\n +total \+= .*)*)/
const SECTION = /base (\d+), and (\d+) .*\n- (from|for more than) (\d+) days.*: (\d+) less/

/** What a reader finds of a rule in these lines. */
function readRule(pattern: RegExp, read: readonly NumberedLine[]) {
  const [, base, step, sign, limit, less, adds = ''] =
    pattern.exec(read.map(({ text }) => text).join('\n')) ?? []
  const [numbers, from] = [[base, step, limit, less].map(Number), /^(?:>=|from)$/.test(sign ?? '')]
  const named = [...adds.matchAll(/\+= (\w+)\(/g)].map(([, name]) => name!)
  return {
    base: numbers[0]!,
    step: numbers[1]!,
    limit: numbers[2]!,
    less: numbers[3]!,
    from,
    named,
  }
}

function functionIn(read: readonly NumberedLine[], name: string) {
  const start = read.findIndex(({ text }) => text.startsWith(`export function ${name}(`))
  return readRule(FUNCTION, read.slice(start))
}

/** The first failing test, and what it expected. */
function failing(read: readonly string[]): readonly string[] {
  const line = read.find(each => each.startsWith('not ok')) ?? ''
  return /^not ok (\w+): expected (\S+),/.exec(line)?.slice(1) ?? []
}

/** Compares functions with the handbook, from the failing one down to the one that deviates. */
function* solve(): Solving<void> {
  const first = yield* lines({ tool: 'test', args: {} }, read => failing(read)[0])
  // Names that are added while it goes on are looked at too.
  const waiting = new Set([first!])
  for (const name of waiting) {
    const { path, line } = yield* lines({ tool: 'search', args: { text: name } }, hits => ({
      path: hits.find(hit => hit.includes(`export function ${name}(`))?.split(':')[0] ?? '',
      line: Number(hits.find(hit => hit.endsWith(`:### ${name}`))?.split(':')[1]),
    }))
    const whole = { tool: 'read', args: { path } }
    const part = { tool: 'read', args: { path: HANDBOOK, offset: line, limit: 4 } }
    const is = yield* numbered(whole, read => functionIn(read, name))
    const should = yield* numbered(part, read => readRule(SECTION, read))
    const [old, fresh] = [headOf(name, is), headOf(name, should)]
    if (old === fresh) {
      for (const added of is.named) waiting.add(added)
      continue
    }
    yield* lines({ tool: 'edit', args: { path, old, new: fresh } }, () => null)
    yield* numbered(whole, read => functionIn(read, name))
    yield* lines({ tool: 'test', args: {} }, read => read.length)
    const expected = yield* lines(0, read => failing(read)[1])
    yield* answer(`${path} ${expected}`)
    return
  }
}
