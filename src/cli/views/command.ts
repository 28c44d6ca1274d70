import { existsSync } from 'node:fs'
import { processEnv } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import { readPipelineConfig } from '../../config/pipeline.ts'
import { builtInViews, readViewFile } from '../../config/views.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { jsonOption } from '../../console/options.ts'
import { percent, table } from '../../console/table.ts'
import { DEFAULT_PIPELINE } from '../../core/pipeline/profile/default-pipeline.ts'
import type { ViewData } from '../../core/reduce/views/view-schema.ts'
import { readResults } from '../../lab/replay/read-results.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { measureViews, type ViewFigures } from './measure-views.ts'

const options = { ...jsonOption } as const satisfies Options

export const viewsCommand = defineActions({
  name: 'views',
  details:
    'check plays the results of a folder or file, as replay reads them, at each level. It counts ' +
    'how often a later call of the same session quotes a value that the level compact hid.',
  examples: ['views list', 'views check views.toml recordings/'],
  options,
  actions: {
    list: { run: list },
    check: { operands: { text: 'FILE RECORDINGS', min: 2, max: 2 }, run: check },
  },
})

/** The views of the configuration that is in force, and those that are off. */
function list(values: ValuesOf<typeof options>): number {
  const inForce = readPipelineConfig(loadConfig({ env: processEnv(), insecure: true })).knownViews
  const on = inForce ?? []
  const names = new Set(on.map(({ name }) => name))
  const off = builtInViews().filter(({ name }) => !names.has(name))
  const rows = [...on.map(view => rowOf(view, 'on')), ...off.map(view => rowOf(view, 'off'))]
  if (values.json) process.stdout.write(`${JSON.stringify({ views: rows })}\n`)
  else {
    const cells = rows.map(({ name, state, has, about }) => [name, state, has.join(' '), about])
    process.stdout.write(`${table(['view', '', 'fields that fit', 'about'], cells)}\n`)
  }
  return EXIT.ok
}

function rowOf({ name, about, has, tools }: ViewData, state: 'on' | 'off') {
  return { name, state, has, about, ...(tools === undefined ? {} : { tools }) }
}

/** Plays recordings through the views of one file alone. */
function check(values: ValuesOf<typeof options>, [file = '', recordings = '']: readonly string[]) {
  if (!existsSync(recordings)) throw new UsageError(`there is no ${recordings}`)
  const views = readViewFile(file)
  const pipeline = { ...DEFAULT_PIPELINE, knownViews: views }
  const context = { ...createLocalContext(), keepsOriginals: true, pipeline }
  const { results, skipped } = readResults(recordings)
  for (const each of skipped) process.stderr.write(`skipped ${each.file}: ${each.reason}\n`)
  const figures = measureViews(results, context)
  if (values.json) {
    const named = [...figures].map(([view, { goes, ...each }]) => ({
      view,
      ...each,
      goes: Object.fromEntries(goes),
    }))
    process.stdout.write(`${JSON.stringify({ results: results.length, views: named })}\n`)
  } else process.stdout.write(`${reportOn(views, figures)}\n`)
  return EXIT.ok
}

/** Names of fields in a report's line. */
const SHOWN_NAMES = 12

function reportOn(views: readonly ViewData[], figures: ReadonlyMap<string, ViewFigures>): string {
  const header = ['view', 'results', 'before', 'lossless', 'standard', 'compact', 'needed later']
  const rows = views.map(({ name }) => {
    const found = figures.get(name)
    if (found === undefined) return [name, 0, 0, 0, 0, 0, '–']
    const { results, before, lossless, standard, compact, neededLater, inSessions } = found
    const needed = `${neededLater} of ${inSessions} (${percent(neededLater, inSessions)})`
    return [name, results, before, lossless, standard, compact, needed]
  })
  const goes = [...figures].map(([name, found]) => {
    const sorted = [...found.goes].sort(([, a], [, b]) => b - a)
    const named = sorted.slice(0, SHOWN_NAMES).map(([field, count]) => `${field} ×${count}`)
    const more = sorted.length > SHOWN_NAMES ? `, and ${sorted.length - SHOWN_NAMES} more` : ''
    return `${name} leaves out ${named.join(', ')}${more}`
  })
  return [table(header, rows), ...goes].join('\n')
}
