import { isoDay } from '../../book/rows/amounts.ts'
import { dayOf } from '../../book/rows/day-of.ts'
import { DIMENSIONS, figuresOf, type GainFigures, type Part } from '../../book/rows/gain-figures.ts'
import { type Env, processEnv } from '../../config/env.ts'
import { repositoryName } from '../../config/layers/repository.ts'
import { defineCommand } from '../../console/command.ts'
import { choice, wholeNumber } from '../../console/options.ts'
import { lookOf, paint } from '../../console/paint.ts'
import { DEFAULT_SERVICE_URL } from '../../console/service-client.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { pricesDate, readAllGain, type ServiceToAsk } from './read-gain.ts'
import { partsOf, type ScreenTerms, screenOf } from './screen.ts'

const DAYS = 30
const MOST_DAYS = 3_650
const DAY_MS = 86_400_000

export const gainCommand = defineCommand({
  name: 'gain',
  details:
    "Reads the user's ledger, and a running service. Hooks, MCP and encode see no bill: their " +
    'parts have tokens only. What a loss is has a minus sign.',
  examples: ['gain', 'gain --by tool --days 7', 'gain --project .', 'gain --by month --csv'],
  operands: '',
  maxOperands: 0,
  options: {
    by: choice(DIMENSIONS, { value: 'WHAT', help: `One table: ${DIMENSIONS.join(', ')}` }),
    days: wholeNumber({
      value: 'N',
      help: `The last days (default ${DAYS})`,
      min: 1,
      max: MOST_DAYS,
    }),
    project: {
      type: 'string',
      value: 'NAME',
      help: 'One project, by the name of its repository; . is that of this folder',
    },
    session: {
      type: 'string',
      value: 'ID',
      help: 'One session of a service, as its agent calls it',
    },
    misses: { type: 'boolean', help: 'What a service saved by vendor, and why caches missed' },
    arms: {
      type: 'boolean',
      help: 'What leaving out saves after what agents do about it, by class',
    },
    json: { type: 'boolean', help: 'All figures as JSON' },
    csv: { type: 'boolean', help: 'The table of --by (default day) as CSV' },
    url: { type: 'string', value: 'URL', help: 'The service (default HAVERSACK_URL)' },
    key: { type: 'string', value: 'KEY', help: 'Key for it (default HAVERSACK_KEY)' },
  },
  async run(values) {
    const { by, days = DAYS, session, misses, json, csv, url, key } = values
    if (values.arms) return (await import('../arms/command.ts')).printArms({ url, key, json })
    if (misses || session !== undefined) {
      return (await import('../savings/command.ts')).printSavings({ url, key, json, session })
    }
    const env = processEnv()
    const to = dayOf(Date.now())
    const from = to - days + 1
    const project = projectOf(values.project)
    const { answers, remarks } = await readAllGain(
      { from, to, project, ofTeams: by === 'team' },
      env,
      serviceFor(env, url, key),
    )
    const figures = figuresOf(answers, from, to)
    const pricesOf = pricesDate()
    const pricesAge =
      pricesOf === null ? 0 : Math.floor((Date.now() - Date.parse(pricesOf)) / DAY_MS)
    const terms: ScreenTerms = { project, pricesOf, pricesAge }
    if (json) print([JSON.stringify(jsonOf(figures, terms))])
    else if (csv) print(csvOf(figures.by[by ?? 'day']))
    else {
      const look = lookOf(env, process.stdout)
      const lines = by === undefined ? screenOf(figures, terms, look) : partsOf(by, figures, look)
      print(lines.map(line => paint(line, look)))
    }
    for (const remark of remarks) process.stderr.write(`haversack: ${remark}\n`)
    return EXIT.ok
  },
})

/** `null`: all projects. */
function projectOf(named: string | undefined): string | null {
  if (named === undefined) return null
  return named === '.' ? (repositoryName(process.cwd()) ?? '') : named
}

function serviceFor(env: Env, url: string | undefined, key: string | undefined): ServiceToAsk {
  const named = url ?? (env['HAVERSACK_URL'] || undefined)
  const own = key ?? (env['HAVERSACK_KEY'] || undefined)
  return { url: named ?? DEFAULT_SERVICE_URL, isNamed: named !== undefined, key: own }
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

function jsonOf({ from, to, currency, total, by, unpriced }: GainFigures, terms: ScreenTerms) {
  return {
    from: isoDay(from),
    to: isoDay(to),
    project: terms.project,
    currency,
    prices_of: terms.pricesOf,
    unpriced_models: unpriced,
    total,
    by,
  }
}

const CSV_COLUMNS = [
  ...['name', 'results', 'before', 'after', 'omitted', 'fetched', 'requests', 'prefix_changes'],
  ...['billed', 'without', 'billed_money', 'without_money'],
]

function csvOf(parts: readonly Part[]): readonly string[] {
  return [
    CSV_COLUMNS.join(','),
    ...parts.map(({ name, bill, money, ...part }) =>
      [
        csvText(name),
        ...[part.results, part.before, part.after, part.omitted, part.fetched],
        ...[part.requests, part.prefix_changes, bill?.billed ?? '', bill?.without ?? ''],
        ...[money?.billed ?? '', money?.without ?? ''],
      ].join(','),
    ),
  ]
}

/** RFC 4180; a spreadsheet must not take a name for a formula. */
function csvText(name: string): string {
  const safe = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
