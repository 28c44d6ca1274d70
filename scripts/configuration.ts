import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { configSchema } from '../src/config/config.ts'
import { ENV_KEYS } from '../src/config/env-keys.ts'
import { pipelineSchema } from '../src/core/pipeline/profile/pipeline-config.ts'
import { AT_START } from '../src/service/reload.ts'
import { EXAMPLES, WHY } from './configuration/why.ts'

/**
 * Writes the tables of `docs/reference/configuration.md`, and `config.example.toml`, from the
 * schemas and the reasons of `configuration/why.ts`: `npm run settings`. A test fails if either is
 * stale.
 */

const ROOT = new URL('../', import.meta.url)
const PAGE = new URL('docs/reference/configuration.md', ROOT)
const EXAMPLE = new URL('config.example.toml', ROOT)

type JsonSchema = z.core.JSONSchema.BaseSchema

/** A key of a file; a name that users choose is `*`. */
interface Key {
  readonly path: string
  readonly type: string
  /** As TOML has it; absent: there is none. */
  readonly byDefault?: string
  readonly isOfService: boolean
}

/** Defaults that depend on the machine. */
const OF_MACHINE: Readonly<Record<string, string>> = {
  data_dir: '"~/.local/share/haversack"',
  'workers.count': 'processors',
}

function keysIn(schema: z.ZodType, isOfService: boolean): readonly Key[] {
  const walk = (of: JsonSchema, path: string): readonly Key[] => {
    const { properties, additionalProperties: any } = of
    const inner = properties ?? (typeof any === 'object' ? { '*': any } : undefined)
    if (inner !== undefined) {
      const before = path === '' ? '' : `${path}.`
      return Object.entries(inner).flatMap(([name, each]) =>
        walk(each as JsonSchema, before + name),
      )
    }
    const byDefault = OF_MACHINE[path] ?? (of.default === undefined ? undefined : toml(of.default))
    return [{ path, type: typeOf(of), isOfService, ...(byDefault !== undefined && { byDefault }) }]
  }
  return walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '')
}

function toml(value: unknown): string {
  if (typeof value === 'number' && value >= 10_000) {
    return String(value).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, '_')
  }
  return JSON.stringify(value).replaceAll(',', ', ')
}

function typeOf({ type, enum: values, const: value, anyOf }: JsonSchema): string {
  if (values !== undefined) return values.map(each => String(each)).join(', ')
  if (value !== undefined) return String(value)
  if (anyOf !== undefined)
    return [...new Set(anyOf.map(each => typeOf(each as JsonSchema)))].join(', ')
  return NAMES[String(type)] ?? 'table'
}

const NAMES: Readonly<Record<string, string>> = {
  boolean: 'bool',
  integer: 'int',
  number: 'number',
  string: 'text',
  array: 'list',
}

export const KEYS: readonly Key[] = [
  ...keysIn(configSchema, true),
  ...keysIn(pipelineSchema, false),
]

/** Whether a change waits for a restart of the service. */
function waits({ path, isOfService }: Key): boolean {
  const [section, key] = path.split('.')
  return isOfService && AT_START.some(([at, only]) => at === section && (only ?? key) === key)
}

/** The page with tables of the keys between its marks; each key is where its longest start is. */
function pageWith(text: string): string {
  const marks = [...text.matchAll(/<!-- keys: ([^>]*) -->/g)].map(([, starts = '']) =>
    starts.split(/\s/),
  )
  const placeOf = ({ path, isOfService }: Key) => {
    if (isOfService) return 'service'
    const fits = marks.flat().filter(start => path === start || path.startsWith(`${start}.`))
    return fits.sort((a, b) => b.length - a.length)[0]
  }
  return text.replace(
    /(<!-- keys: ([^>]*) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, open, starts, close) => {
      const own = KEYS.filter(key => (starts as string).split(/\s/).includes(placeOf(key) ?? ''))
      return `${open}${TABLE}${own.map(rowOf).join('')}${close}`
    },
  )
}

const TABLE = '|key|type|default|why one would change it|\n|---|---|---|---|\n'

function rowOf(key: Key): string {
  const { path, type, byDefault } = key
  const why = WHY[path] ?? ''
  const said = byDefault === undefined ? '' : byDefault
  const variable = variableOf(path)
  const by = variable === undefined ? '' : ` (${variable})`
  // A value tells its type, if it is not one of few.
  const kind = said !== '' && !type.includes(',') ? '' : type
  return `|\`${path}\`${waits(key) ? ' ↻' : ''}|${kind}|${said}|${why}${by}|\n`
}

/** A sentence without Markdown. */
function plain(why = ''): string {
  const text = why.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return why.startsWith('`') ? text : text.charAt(0).toUpperCase() + text.slice(1)
}

function variableOf(path: string): string | undefined {
  return ENV_KEYS.find(each => each.path.join('.') === path)?.name
}

const HEAD = `# The service's configuration. Let HAVERSACK_CONFIG name a copy, and remove the # before what you change.
# Every key is optional and shown with its default, or with an example where it has none. Variables of
# the environment (in brackets) and the command line take precedence. Above each key is why one would
# change it; docs/reference/configuration.md says what waits for a restart.
`

/** Tables whose names users choose are shown as comments. */
function exampleFile(): string {
  const lines = [HEAD]
  let section = ''
  for (const key of KEYS.filter(each => each.isOfService).sort(bySection)) {
    const { path, type, byDefault = '' } = key
    const parts = path.split('.')
    const header = parts.length === 1 || parts[0] === '*' ? '' : parts[0]!
    if (header !== section) lines.push(`\n#[${header}]`)
    section = header
    const variable = variableOf(path)
    const why = `${plain(WHY[path])}${variable === undefined ? '' : ` (${variable})`}`
    const name = path.slice(header === '' ? 0 : header.length + 1)
    if (parts.includes('*')) lines.push(`# ${name.replaceAll('*', 'NAME')} (${type}): ${why}`)
    else lines.push(`# ${why}`, `#${name} = ${EXAMPLES[path] ?? byDefault}`)
  }
  return `${lines.join('\n')}\n`
}

function bySection(a: Key, b: Key): number {
  return Number(a.path.includes('.')) - Number(b.path.includes('.'))
}

export const FILES = [
  { file: EXAMPLE, textOf: (): string => exampleFile() },
  { file: PAGE, textOf: (): string => pageWith(readFileSync(PAGE, 'utf8')) },
] as const

if (import.meta.main) for (const { file, textOf } of FILES) writeFileSync(file, textOf())
