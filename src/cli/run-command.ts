import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Env, processEnv } from '../config/env.ts'
import { watchUncaught } from '../runtime/uncaught.ts'
import { defineCommand, UsageError } from './command.ts'
import { type BaseUrls, baseUrls } from './run-command/base-urls.ts'
import { codeOf, createSignalRelay, runChild, type SignalRelay } from './run-command/child.ts'
import { type CodexCommand, codexCommand } from './run-command/codex.ts'
import { logErrorsOnly, logToFile, type QuietLog } from './run-command/error-log.ts'
import { namedBaseUrls, opencodeSettings } from './run-command/named-upstreams.ts'
import { type OwnService, startOwnService } from './run-command/own-service.ts'
import { canRetrieve, OWN_TOOLS, withRetrieval } from './run-command/retrieval.ts'
import { summaryLines } from './run-command/summary.ts'
import { makeTemporaryFolder } from './run-command/temporary-folder.ts'

/**
 * The exit code of `env` and `timeout` if they fail themselves. It differs from the exit codes of
 * the command.
 */
const NOT_STARTED = 125

/** Longest time for closing the proxy, and then for the end of the process, in milliseconds. */
const CLOSE_MS = 10_000
const EXIT_MS = 1_000

export const runCommand = defineCommand({
  name: 'run',
  summary: 'Run an agent, such as claude or codex, behind a proxy of its own',
  details:
    'The proxy forwards to the APIs of Anthropic and OpenAI, and ends with COMMAND. ' +
    'The exit code is that of COMMAND; ' +
    '126, 127: it cannot be run; 125: the proxy cannot be started.',
  examples: ['run -- claude', 'run --summary --elide -- codex'],
  operands: '-- COMMAND [ARG…]',
  maxOperands: Number.POSITIVE_INFINITY,
  options: {
    elide: {
      type: 'boolean',
      help: 'Leave parts out of large results, and give claude or codex a tool that fetches them',
    },
    summary: { type: 'boolean', help: 'Report at the end on stderr what was saved' },
    log: {
      type: 'string',
      value: 'FILE',
      help: 'Append the log to this file (default: errors are counted at the end)',
    },
    'data-dir': {
      type: 'string',
      value: 'FOLDER',
      help: 'Keep what the proxy remembers for the next time (default: a folder that is removed)',
    },
  },
  async run(values, [command, ...args]) {
    if (command === undefined) throw new UsageError('run takes a command: run -- COMMAND')
    if (values.elide && !canRetrieve([command, ...args])) {
      throw new UsageError('run --elide takes claude or codex as its command')
    }
    const relay = createSignalRelay()
    try {
      const file = values.log
      return await runBehindProxy([command, ...args], {
        dataDir: values['data-dir'],
        summary: values.summary,
        elides: values.elide,
        log: file === undefined ? logErrorsOnly() : logToFile(file),
        relay,
      })
    } catch (error) {
      process.stderr.write(`haversack: ${error instanceof Error ? error.message : String(error)}\n`)
      return NOT_STARTED
    } finally {
      relay.close()
    }
  },
})

interface RunOptions {
  readonly dataDir: string | undefined
  readonly summary: boolean
  readonly elides: boolean
  readonly log: QuietLog
  readonly relay: SignalRelay
}

/** The environment of this process is not changed. */
async function runBehindProxy(
  command: readonly [string, ...string[]],
  { dataDir, summary, elides, log, relay }: RunOptions,
): Promise<number> {
  const env = processEnv()
  const codex = codexCommand(command, env)
  const urls = baseUrls(codex === null ? env : { ...env, OPENAI_BASE_URL: codex.baseUrl })
  const folder = dataDir ?? makeTemporaryFolder()
  const isTemporary = dataDir === undefined
  const mcpConfigFile = elides ? join(folder, `mcp-${process.pid}.json`) : null
  try {
    const service = await startOwnService({
      env: { ...env, ...urls.upstreams },
      folder,
      isTemporary,
      logger: log.logger,
      // No agent could have another one that fetches from here.
      retrievingTools: elides ? OWN_TOOLS : [],
    })
    // The command is still working. It keeps its base URL as long as requests can be forwarded.
    const uncaught = watchUncaught(error => service.noteUncaught(error))
    let code = NOT_STARTED
    try {
      if (relay.pending !== null) code = codeOf(relay.pending)
      else code = await runCommandAt(service, { command, mcpConfigFile, codex, urls, env, relay })
    } finally {
      const isClosed = await closeInTime(service)
      if (summary) await tellWhatWasSaved(service)
      uncaught.close()
      // Open handles would keep the process alive, and delay the command's exit code.
      if (!isClosed || uncaught.count > 0) setTimeout(() => process.exit(code), EXIT_MS).unref()
    }
    return code
  } finally {
    if (isTemporary) removeFolder(folder)
    else if (mcpConfigFile !== null) rmSync(mcpConfigFile, { force: true })
    tellErrors(log)
  }
}

interface CommandToRun {
  readonly command: readonly [string, ...string[]]
  /** Where the agent's configuration of our MCP server is written; `null`: it gets none. */
  readonly mcpConfigFile: string | null
  readonly codex: CodexCommand | null
  readonly urls: BaseUrls
  readonly env: Env
  readonly relay: SignalRelay
}

function runCommandAt(
  service: OwnService,
  { command, mcpConfigFile, codex, urls, env, relay }: CommandToRun,
): Promise<number> {
  const childEnv = {
    ...urls.environment(service.url, service.anthropicUrl),
    ...namedBaseUrls(service.url, service.upstreams),
    ...(isOpencode(command) ? opencodeSettings(service.url, env) : {}),
  }
  const retrieval =
    mcpConfigFile === null ? null : { url: `${service.url}/mcp`, configFile: mcpConfigFile }
  const equipped = (line: readonly [string, ...string[]]) =>
    retrieval === null ? line : withRetrieval(line, retrieval)
  if (codex === null) return runChild(equipped(command), childEnv, relay)
  // Processes that the command starts use the base URL that they would have used.
  const { OPENAI_BASE_URL: url = '' } = childEnv
  const codexEnv = { ...childEnv, OPENAI_BASE_URL: env['OPENAI_BASE_URL'] }
  return runChild(equipped(codex.behind(url)), codexEnv, relay)
}

function isOpencode([program]: readonly [string, ...string[]]): boolean {
  return /^opencode(?:\.exe|\.cmd)?$/.test(basename(program))
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

async function tellWhatWasSaved(service: OwnService): Promise<void> {
  const lines = summaryLines(await service.saved())
  process.stderr.write(lines.map(line => `haversack: ${line}\n`).join(''))
}
