import { rmSync } from 'node:fs'
import { processEnv } from '../config/env.ts'
import { type Command, text, UsageError } from './command.ts'
import { baseUrls } from './run-command/base-urls.ts'
import { codeOf, runChild } from './run-command/child.ts'
import { codexCommand } from './run-command/codex.ts'
import { logErrorsOnly, logToFile, type QuietLog } from './run-command/error-log.ts'
import { type OwnService, startOwnService } from './run-command/own-service.ts'
import { createSignalRelay, type SignalRelay } from './run-command/signal-relay.ts'
import { makeTemporaryFolder } from './run-command/temporary-folder.ts'

/** As `env` and `timeout` end where they fail themselves, so that it can be told from what the command says. */
const NOT_STARTED = 125

export const runCommand: Command = {
  name: 'run',
  summary: 'Run an agent, such as claude or codex, behind a proxy of its own',
  details:
    'The proxy stands before the APIs of Anthropic and OpenAI, and ends with COMMAND. The exit code is that of COMMAND; ' +
    '126, 127: it cannot be run; 125: the proxy cannot be started.',
  operands: '-- COMMAND [ARG…]',
  maxOperands: Number.POSITIVE_INFINITY,
  options: {
    summary: { type: 'boolean', help: 'Say at the end what was saved, on stderr' },
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
    const relay = createSignalRelay()
    try {
      const file = text(values, 'log')
      return await runBehindProxy([command, ...args], {
        dataDir: text(values, 'data-dir'),
        summary: values['summary'] === true,
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
}

interface RunOptions {
  readonly dataDir: string | undefined
  readonly summary: boolean
  readonly log: QuietLog
  readonly relay: SignalRelay
}

/** The environment of this process is left as it is. */
async function runBehindProxy(
  command: readonly [string, ...string[]],
  { dataDir, summary, log, relay }: RunOptions,
): Promise<number> {
  const env = processEnv()
  const codex = codexCommand(command, env)
  const urls = baseUrls(codex === null ? env : { ...env, OPENAI_BASE_URL: codex.baseUrl })
  const folder = dataDir ?? makeTemporaryFolder()
  const isTemporary = dataDir === undefined
  try {
    const service = await startOwnService({
      env: { ...env, ...urls.upstreams },
      folder,
      isTemporary,
      logger: log.logger,
    })
    try {
      if (relay.pending !== null) return codeOf(relay.pending)
      const childEnv = urls.environment(service.url, service.anthropicUrl)
      if (codex === null) return await runChild(command, childEnv, relay)
      // What it starts itself goes where it would have gone.
      const { OPENAI_BASE_URL: url = '' } = childEnv
      const codexEnv = { ...childEnv, OPENAI_BASE_URL: env['OPENAI_BASE_URL'] }
      return await runChild(codex.behind(url), codexEnv, relay)
    } finally {
      await service.close()
      if (summary) await tellWhatWasSaved(service)
    }
  } finally {
    if (isTemporary) rmSync(folder, { recursive: true, force: true })
    tellErrors(log)
  }
}

function tellErrors(log: QuietLog): void {
  const errors = log.errors()
  if (errors === null) return
  const all = errors.count === 1 ? 'an error' : `${errors.count} errors, the first`
  process.stderr.write(`haversack: ${all}: ${errors.first} (--log FILE keeps them)\n`)
}

async function tellWhatWasSaved(service: OwnService): Promise<void> {
  const { requests, tokensSaved } = await service.sums()
  const saved = tokensSaved.toLocaleString('en-US')
  const why =
    requests === 0 ? ': the command made none, or has its base URL from somewhere else' : ''
  process.stderr.write(`haversack: ${saved} tokens saved in ${requests} requests${why}\n`)
}
