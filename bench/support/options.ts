import { basename } from 'node:path'
import { parseArgs } from 'node:util'

/** The default of an option that must be given. */
export const REQUIRED: unique symbol = Symbol('required')

/** What an option is if it is not given; a list names the values that it may have. */
type Default = boolean | number | string | readonly string[] | typeof REQUIRED

type Value<D extends Default> = D extends boolean
  ? boolean
  : D extends number
    ? number
    : D extends readonly (infer Name)[]
      ? readonly Name[]
      : string

type Values<Defaults extends Readonly<Record<string, Default>>> = {
  readonly [Name in keyof Defaults]: Value<Defaults[Name]>
}

/**
 * Options of a bench by their defaults. A boolean is a switch (`--json`), a number is one from 0 up
 * (`--rounds 5`), and a list takes some of its names (`--only speed,parts`). `corpus` may also come
 * as the first argument or from `HAVERSACK_CORPUS`.
 * @throws {Error} with the usage if the arguments do not fit
 */
export function readOptions<const Defaults extends Readonly<Record<string, Default>>>(
  defaults: Defaults,
  args: readonly string[] = process.argv.slice(2),
  env: NodeJS.ProcessEnv = process.env,
): Values<Defaults> {
  try {
    return parseOptions(defaults, args, env)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${reason}\nusage: ${usageOf(defaults)}`)
  }
}

function parseOptions<const Defaults extends Readonly<Record<string, Default>>>(
  defaults: Defaults,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Values<Defaults> {
  const types = Object.entries(defaults).map(([name, value]) => {
    return [name, { type: typeof value === 'boolean' ? 'boolean' : 'string' }] as const
  })
  const { values: given, positionals } = parseArgs({
    args: [...args],
    options: Object.fromEntries(types),
    allowPositionals: 'corpus' in defaults,
  })
  if (positionals.length > 1) throw new Error(`unexpected argument ${positionals[1]}`)
  const corpus = positionals[0] ?? env['HAVERSACK_CORPUS']
  const values = Object.entries(defaults).map(([name, value]) => {
    const text = given[name] ?? (name === 'corpus' ? corpus : undefined)
    return [name, readValue(name, value, text)] as const
  })
  return Object.fromEntries(values) as Values<Defaults>
}

function readValue(name: string, byDefault: Default, given: string | boolean | undefined): unknown {
  if (given === undefined || typeof given === 'boolean') {
    if (byDefault === REQUIRED) throw new Error(`--${name} is required`)
    return given ?? byDefault
  }
  if (typeof byDefault === 'number') {
    const number = Number(given)
    if (given.trim() === '' || !(number >= 0)) throw new Error(`--${name} takes a number`)
    return number
  }
  if (!Array.isArray(byDefault)) return given
  const names = given.split(',')
  const unknown = names.find(each => !byDefault.includes(each))
  if (unknown !== undefined) throw new Error(`--${name} does not know ${unknown}`)
  return names
}

function usageOf(defaults: Readonly<Record<string, Default>>): string {
  const options = Object.entries(defaults).map(([name, value]) => {
    if (value === REQUIRED) return name === 'corpus' ? 'CORPUS' : `--${name} TEXT`
    if (typeof value === 'boolean') return `[--${name}]`
    if (typeof value === 'string') return name === 'corpus' ? '[CORPUS]' : `[--${name} TEXT]`
    return `[--${name} ${Array.isArray(value) ? value.join(',') : value}]`
  })
  return ['npm run bench --', basename(process.argv[1] ?? '', '.ts'), ...options].join(' ')
}
