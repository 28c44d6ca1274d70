import { rmSync } from 'node:fs'
import { type Env, processEnv } from '../../config/env.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import { openai } from '../../core/dialects/openai.ts'
import { reasonOf } from '../../runtime/system-reason.ts'
import { watchUncaught } from '../../runtime/uncaught.ts'
import { agentSettings, decidingSetting } from './agent-settings.ts'
import { type BaseUrls, baseUrls } from './base-urls.ts'
import { codeOf, createSignalRelay, runChild, SIGNALLED, type SignalRelay } from './child.ts'
import { type CodexCommand, codexCommand } from './codex.ts'
import { logErrorsOnly, logToFile, type QuietLog } from './error-log.ts'
import { namedBaseUrls, type OwnService, startOwnService } from './own-service.ts'
import { summaryLines } from './summary.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

/**
 * The exit code of `env` and `timeout` if they fail themselves. It differs from the exit codes of
 * the command.
 */
const NOT_STARTED = 125

/** Longest time for closing the proxy, and then for the end of the process, in milliseconds. */
const CLOSE_MS = 10_000
const EXIT_MS = 1_000

/** The first line, since results may lose something. */
const CLEARS =
  'after pauses old results leave the prompt; the model can fetch them (--lossless keeps them)'

const [OPENAI_URL] = openai.own.variables

/** Said to a user once. */
const KEEPS =
  'results are kept here, encrypted, for 7 days: haversack show prints one (--no-texts: none are)'

const LEAVES_OUT = 'large and old results may lose parts, which the model can fetch back'

export const runCommand = defineCommand({
  name: 'run',
  outlivesReader: true,
  details:
    'The proxy forwards to the APIs of Anthropic and OpenAI, and ends with COMMAND. ' +
    'Requests to Anthropic without a cache breakpoint get one (cache_life.place). ' +
    'Options of run come before COMMAND. ' +
    'The exit code is that of COMMAND; ' +
    '126, 127: it cannot be run; 125: the proxy cannot be started.',
  examples: ['run -- claude', 'run --summary --lossless -- codex'],
  operands: '[--] COMMAND [ARG…]',
  maxOperands: Number.POSITIVE_INFINITY,
  endsWithOperands: true,
  options: {
    elide: {
      type: 'boolean',
      help: 'Leave parts out of large results too; the model can fetch them back',
    },
    lossless: { type: 'boolean', help: 'Leave nothing out' },
    summary: { type: 'boolean', help: 'Report at the end on stderr what was saved' },
    log: {
      type: 'string',
      value: 'FILE',
      help: 'Append the log to this file (default: errors are counted at the end)',
    },
    'no-ledger': { type: 'boolean', help: 'Add nothing to the ledger, which haversack gain shows' },
    'no-texts': { type: 'boolean', help: 'Keep no texts, which haversack show prints' },
    'data-dir': {
      type: 'string',
      value: 'FOLDER',
      help: 'Keep what the proxy remembers for the next time (default: a folder that is removed)',
    },
  },
  async run(values, [command, ...args]) {
    if (command === undefined) throw new UsageError('run takes a command: run -- COMMAND')
    if (values.elide && values.lossless) throw new UsageError('take --elide or --lossless')
    const relay = createSignalRelay()
    try {
      const file = values.log
      return await runBehindProxy([command, ...args], {
        dataDir: values['data-dir'],
        summary: values.summary,
        hasLedger: !values['no-ledger'],
        keepsTexts: !values['no-texts'],
        elides: values.elide ? true : values.lossless ? false : undefined,
        log: file === undefined ? logErrorsOnly() : logToFile(file),
        relay,
      })
    } catch (error) {
      process.stderr.write(`haversack: ${reasonOf(error)}\n`)
      return NOT_STARTED
    } finally {
      relay.close()
    }
  },
})

interface RunOptions {
  readonly dataDir: string | undefined
  readonly summary: boolean
  readonly hasLedger: boolean
  readonly keepsTexts: boolean
  readonly elides: boolean | undefined
  readonly log: QuietLog
  readonly relay: SignalRelay
}

/** The environment of this process is not changed. */
async function runBehindProxy(
  command: readonly [string, ...string[]],
  { dataDir, summary, hasLedger, keepsTexts, elides, log, relay }: RunOptions,
): Promise<number> {
  const env = processEnv()
  const codex = codexCommand(command, env)
  const urls = baseUrls(codex === null ? env : { ...env, [OPENAI_URL]: codex.baseUrl })
  const files = makeTemporaryFolder()
  try {
    const service = await startOwnService({
      env: { ...env, ...urls.upstreams },
      folder: dataDir ?? files,
      isTemporary: dataDir === undefined,
      logger: log.logger,
      elides,
      hasLedger,
      keepsTexts,
      program: command[0],
    })
    if (service.elides) process.stderr.write(`haversack: ${elides ? LEAVES_OUT : CLEARS}\n`)
    if (service.beginsTexts) process.stderr.write(`haversack: ${KEEPS}\n`)
    // The command is still working. It keeps its base URL as long as requests can be forwarded.
    const uncaught = watchUncaught(error => service.noteUncaught(error))
    let code = NOT_STARTED
    try {
      if (relay.pending !== null) code = codeOf(relay.pending)
      else code = await runCommandAt(service, { command, codex, urls, env, relay })
    } finally {
      const isClosed = await closeInTime(service)
      await tellWhatWasSaved(service, { command, code, summary })
      uncaught.close()
      // Open handles would keep the process alive, and delay the command's exit code.
      if (!isClosed || uncaught.count > 0) setTimeout(() => process.exit(code), EXIT_MS).unref()
    }
    return code
  } finally {
    removeFolder(files)
    tellErrors(log)
  }
}

interface CommandToRun {
  readonly command: readonly [string, ...string[]]
  readonly codex: CodexCommand | null
  readonly urls: BaseUrls
  readonly env: Env
  readonly relay: SignalRelay
}

function runCommandAt(
  service: OwnService,
  { command, codex, urls, env, relay }: CommandToRun,
): Promise<number> {
  const childEnv = {
    ...urls.environment(service.url, service.anthropicUrl),
    ...namedBaseUrls(service.url, service.upstreams),
    ...agentSettings(command[0], service.url, env),
  }
  if (codex === null) return runChild(command, childEnv, relay)
  // Processes that the command starts use the base URL that they would have used.
  const { [OPENAI_URL]: url = '' } = childEnv
  const own = Object.fromEntries(openai.own.variables.map(name => [name, env[name]]))
  const codexEnv = { ...childEnv, ...own }
  return runChild(codex.behind(url), codexEnv, relay)
}

/**
 * Returns whether it closed. The command has ended, so its exit code is more important than a
 * failure here.
 */
async function closeInTime(service: OwnService): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), CLOSE_MS)
  const closed = service.close().then(
    () => true,
    () => false,
  )
  const isClosed = await Promise.race([closed, late.promise])
  clearTimeout(timer)
  if (!isClosed) process.stderr.write('haversack: the proxy did not close\n')
  return isClosed
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // The next run removes it.
  }
}

function tellErrors(log: QuietLog): void {
  const errors = log.errors()
  if (errors === null) return
  const all = errors.count === 1 ? 'an error' : `${errors.count} errors, the first`
  process.stderr.write(`haversack: ${all}: ${errors.first} (--log FILE keeps them)\n`)
}

interface Ended {
  readonly command: readonly [string, ...string[]]
  readonly code: number
  readonly summary: boolean
}

/** An agent that failed before it asked its model is told why, also without `--summary`. */
async function tellWhatWasSaved(service: OwnService, ended: Ended): Promise<void> {
  const { command, code, summary } = ended
  const saved = await service.saved()
  const deciding = decidingSetting(command[0])
  const isStarted = code < NOT_STARTED || code >= SIGNALLED
  if (!isStarted && saved.figures.requests.count === 0) return
  const isCutOff = code > 0 && code < NOT_STARTED && saved.figures.requests.count === 0
  if (!summary && !(isCutOff && deciding !== null)) return
  const lines = summaryLines(saved, deciding)
  process.stderr.write(lines.map(line => `haversack: ${line}\n`).join(''))
}
