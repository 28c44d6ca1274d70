import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { stringify } from 'smol-toml'
import { loadTelemetryKey } from '../../book/events/key-file.ts'
import { telemetryFolder } from '../../book/events/layout.ts'
import type { Config } from '../../config/config.ts'
import { processEnv } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import { clearUpOnSignal } from '../../console/clear-up-on-signal.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import {
  choice,
  readShare,
  tokenizerFieldsOf,
  tokenizerOptions,
  wholeNumber,
} from '../../console/options.ts'
import { createProgress } from '../../console/progress.ts'
import { LOCAL_TENANT } from '../../core/base/tenant-name.ts'
import { vendorOf } from '../../core/conversation/usage/billing.ts'
import { TELEMETRY_KEY_BYTES } from '../../core/telemetry/pseudonyms.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import { analyze } from '../../lab/analysis.ts'
import type { EventFile } from '../../lab/event-file.ts'
import { listLogs } from '../../lab/logs/list-logs.ts'
import { logFolders } from '../../lab/nightly/log-folders.ts'
import { readPriors } from '../../lab/nightly/read-priors.ts'
import { BASELINE_IDS, BASELINES, baselineCounter } from '../../lab/replay/baselines.ts'
import { mineModels } from '../../lab/speculation/mine-models.ts'
import { analysisRecord, describeSessions, reportAnalysis } from '../../lab/tune/analysis-report.ts'
import { analyzeSessions, analyzeTelemetry, reportProposals } from '../../lab/tune/analyze.ts'
import { billOf, billTables } from '../../lab/tune/bill-report.ts'
import { mineLogs } from '../../lab/tune/mine-logs.ts'
import { recordedSessions } from '../../lab/tune/recorded-sessions.ts'
import { summaryOf, toJson, toTables } from '../../lab/tune/report.ts'
import {
  applyProposals,
  printSkill,
  revertVersion,
  showProposals,
  showTuned,
} from '../../lab/tune/versions.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000

/** The actions that analyze logs. */
const ANALYSES = ['analyze', 'from-claude-logs']

const options = {
  ...tokenizerOptions,
  data: {
    type: 'string',
    value: 'FOLDER',
    help: 'Whose telemetry, and whose key hashes for --out (default HAVERSACK_DATA_DIR)',
  },
  out: { type: 'string', value: 'FILE', help: 'Write an event for each result, as Parquet' },
  report: { type: 'boolean', help: 'Print tables (default without --out)' },
  tools: {
    type: 'boolean',
    help: 'Print value models of tools instead, as TOML (mined.toml in data_dir)',
    actions: ['mine', 'from-claude-logs'],
  },
  'auto-enrichment': {
    type: 'boolean',
    help: 'Rule R7: calls ahead of which tools to switch off, or all on',
    actions: ['analyze'],
  },
  logs: {
    type: 'string',
    value: 'PATH',
    help: 'Logs to analyze, like PATH',
    actions: ['analyze'],
  },
  days: wholeNumber({
    value: 'N',
    help: 'Passes over results that are older (default 30 without PATH)',
    min: 1,
    actions: ANALYSES,
  }),
  baseline: choice(BASELINE_IDS, {
    value: 'ID',
    help: `What savings are measured against: ${BASELINE_IDS.join(', ')} (default the first)`,
    actions: [...ANALYSES, 'mine'],
  }),
  mode: choice(['elide', 'lossless'], {
    value: 'MODE',
    help: 'Whether the agent can fetch what is left out: elide, lossless (default the first)',
    actions: ANALYSES,
  }),
  fetched: {
    type: 'string',
    value: 'SHARE',
    help: "Share of a needed result's text that an agent fetches (default 1)",
    actions: ANALYSES,
    read: readShare,
  },
  encode: {
    type: 'boolean',
    help: 'Results go through encode, not a proxy: hints may be terse (rule R8)',
    actions: ANALYSES,
  },
  'input-dir': {
    type: 'string',
    value: 'FOLDER',
    help: 'Where the logs are (default where both agents keep them)',
    actions: ['from-claude-logs'],
  },
  'dry-run': {
    type: 'boolean',
    help: 'Apply nothing',
    actions: ['from-claude-logs'],
  },
  tenant: { type: 'string', value: 'NAME', help: `Whose tuned file (default ${LOCAL_TENANT})` },
  json: { type: 'boolean', help: 'Print the same as JSON' },
} as const satisfies Options

type Values = ValuesOf<typeof options>

export const tuneCommand = defineActions({
  name: 'tune',
  details:
    'Without PATH: the logs where both keep them. Reports the shapes of their tool results, ' +
    'and what formats save; ' +
    'nothing of their content is shown or written. analyze proposes changes and judges them by ' +
    'conversations that they were not chosen by; apply writes those that it accepted.',
  examples: ['tune mine', 'tune analyze ~/.claude/projects', 'tune from-claude-logs --dry-run'],
  options,
  actions: {
    // A shell may have named each log.
    mine: { operands: { text: '[PATH …]', min: 0, max: Infinity }, run: runMine },
    analyze: {
      operands: { text: '[PATH …]', min: 0, max: Infinity },
      run: (values, paths) =>
        runAnalyze(values, values.logs === undefined ? paths : [values.logs, ...paths]),
    },
    'from-claude-logs': { run: fromLogs },
    diff: {
      run: values =>
        showProposals(configOf(values).data_dir, values.tenant ?? LOCAL_TENANT, values.json),
    },
    apply: { run: values => applyProposals(configOf(values), values.tenant ?? LOCAL_TENANT) },
    revert: {
      operands: { text: '[ID]', min: 0, max: 1 },
      run: (values, [id]) => revertVersion(configOf(values), values.tenant ?? LOCAL_TENANT, id),
    },
    show: {
      run: values =>
        showTuned(configOf(values).data_dir, values.tenant ?? LOCAL_TENANT, values.json),
    },
    skill: { run: printSkill },
  },
})

/** Rule R7 alone. Without a path: what telemetry has. */
async function analyzeEnrichment(values: Values, paths: readonly string[]): Promise<number> {
  const config = configOf(values)
  const counter = createLocalContext().counters.get(resolveTokenizer(tokenizerFieldsOf(values)))
  const proposals =
    paths.length === 0
      ? await analyzeTelemetry(telemetryFolder(config.data_dir), config)
      : analyzeSessions(recordedSessions(listLogs(pathsOf(paths))), config, text =>
          counter.count(text),
        )
  process.stdout.write(
    values.json ? `${JSON.stringify({ proposals })}\n` : reportProposals(proposals),
  )
  return EXIT.ok
}

function configOf(values: Pick<Values, 'data'>): Config {
  const overrides = values.data === undefined ? {} : { data_dir: values.data }
  return loadConfig({ env: processEnv(), overrides, insecure: true })
}

async function runAnalyze(values: Values, paths: readonly string[]): Promise<number> {
  if (values['auto-enrichment']) return analyzeEnrichment(values, paths)
  const tokens = tokenizerFieldsOf(values)
  const counter = createLocalContext().counters.get(resolveTokenizer(tokens))
  const { baseline = 'input', fetched = 1, mode = 'elide', tenant = LOCAL_TENANT } = values
  // A caller who names logs wants all of them.
  const days = values.days ?? (paths.length === 0 ? DEFAULT_DAYS : null)
  let progress = createProgress('analyze', 0)
  const place = configOf(values)
  const providers = Object.keys(place.fingerprints.providers)
  const priors = await readPriors({ dataDir: place.data_dir, tenant, providers, now: Date.now() })
  const analysis = analyze(listLogs(pathsOf(paths)), {
    place,
    priors,
    tenant,
    tokens,
    fetched,
    isProxied: !values.encode,
    vendor: vendorOf(values.model),
    elides: mode === 'elide',
    sinceMs: days === null ? 0 : Date.now() - days * DAY_MS,
    onRead(conversations) {
      progress = createProgress('analyze', conversations)
    },
    onPlayed: () => progress.advance(),
  })
  progress.done()
  process.stderr.write(describeSessions(analysis.stats))
  const tokensOf = await baselineCounter(baseline, counter)
  const options = { tokensOf, baseline: BASELINES[baseline] }
  process.stdout.write(
    values.json
      ? `${JSON.stringify(analysisRecord(analysis, options))}\n`
      : reportAnalysis(analysis, options),
  )
  return EXIT.ok
}

/** Analyzes the logs as they are, says what they are of, and applies what the guard accepted. */
async function fromLogs(values: Values): Promise<number> {
  const { 'input-dir': folder, tools, json } = values
  const paths = folder === undefined ? [] : [folder]
  if (tools) return mineTools(paths, json)
  const status = await runAnalyze(values, paths)
  if (status !== EXIT.ok || values['dry-run']) return status
  return applyProposals(configOf(values), values.tenant ?? LOCAL_TENANT)
}

function mineTools(paths: readonly string[], isJson: boolean): number {
  const tools = mineModels(recordedSessions(listLogs(pathsOf(paths))).values())
  process.stdout.write(isJson ? `${JSON.stringify({ tools })}\n` : `${stringify({ tools })}\n`)
  return EXIT.ok
}

async function runMine(values: Values, paths: readonly string[]): Promise<number> {
  if (values.tools) return mineTools(paths, values.json)
  const tokens = tokenizerFieldsOf(values)
  // A tokenizer that is not known fails here, once for all results.
  resolveTokenizer(tokens)
  const { out, baseline = 'input' } = values
  if (out !== undefined && baseline !== 'input') {
    throw new UsageError('--out writes events, whose baseline is the input: leave --baseline away')
  }
  const list = listLogs(pathsOf(paths))
  let file: EventFile | null = null
  const stopWatching = clearUpOnSignal(() => file?.discard())
  try {
    if (out !== undefined) file = await openFile(out)
    // With the secret of this installation, events of several runs can be put together.
    const key =
      file === null ? randomBytes(TELEMETRY_KEY_BYTES) : loadTelemetryKey(configOf(values).data_dir)
    const minings = await mineLogs(list, { tokens, key, file, baseline })
    file?.finish()
    process.stderr.write(summaryOf(minings))
    if (out !== undefined) process.stderr.write(`events written to ${out}\n`)
    if (values.report || values.json || file === null) {
      const bill = await billOf(list)
      const text = values.json ? toJson(minings, bill) : `${toTables(minings)}${billTables(bill)}`
      process.stdout.write(text)
    }
    return EXIT.ok
  } catch (error) {
    file?.discard()
    throw error
  } finally {
    stopWatching()
  }
}

/** @throws UsageError */
function pathsOf(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) {
    const folders = logFolders(processEnv())
    const found = folders.filter(existsSync)
    if (found.length > 0) return found
    throw new UsageError(`there is none of ${folders.join(', ')}; name a folder or a file`)
  }
  const missing = paths.find(path => !existsSync(path))
  if (missing !== undefined) throw new UsageError(`there is no ${missing}`)
  return paths
}

/** @throws UsageError if it cannot be written */
async function openFile(path: string): Promise<EventFile> {
  if (path === '') throw new UsageError('--out takes the name of a file')
  const { EventFile } = await import('../../lab/event-file.ts')
  try {
    return new EventFile(path)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
