import { type Env, processEnv } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import { didYouMean } from '../../config/nearest-name.ts'
import { legendOf, readPipelineConfig } from '../../config/pipeline.ts'
import { ConfigError } from '../../config/read-toml.ts'
import { urlFault } from '../../config/url-fault.ts'
import { withHome } from '../../config/user-folders.ts'
import { isAgreed } from '../../console/ask.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import { identifyService } from '../../console/identify-service.ts'
import {
  readConfigFile,
  replaceFile,
  replaceWithBackup,
  restore,
} from '../../console/replace-file.ts'
import { DEFAULT_SERVICE_URL, serviceOptions } from '../../console/service-client.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { AGENTS, type Agent } from './agents.ts'
import { editTomlTable } from './edit-toml.ts'

export const setupCommand = defineCommand({
  name: 'setup',
  details:
    `AGENT is one of ${Object.keys(AGENTS).join(', ')}. The change is shown first. What the file ` +
    'was before stays beside it, and --undo puts that back byte for byte. The file of litellm is ' +
    'config.yaml in this folder, or what CONFIG_FILE_PATH names.',
  examples: [
    'setup claude',
    'setup --print codex',
    'setup claude --statusline',
    'setup claude --cache-1h',
    'setup claude --hook',
    'setup --undo claude',
  ],
  operands: 'AGENT',
  words: Object.keys(AGENTS),
  maxOperands: 1,
  options: {
    url: serviceOptions.url,
    hook: { type: 'boolean', help: 'Set a hook instead of the base URL (claude)' },
    'cache-1h': {
      type: 'boolean',
      help: 'Also ask for prompt caches of an hour, by an API key (claude)',
    },
    redeem: {
      type: 'boolean',
      help: 'Also let old and large results lose parts, which the proxy fetches for the model',
    },
    statusline: { type: 'boolean', help: 'Also show savings in the status line (claude)' },
    print: { type: 'boolean', help: 'Show the change and write nothing' },
    yes: { type: 'boolean', help: 'Do not ask' },
    undo: { type: 'boolean', help: 'Put back what the file was before' },
  },
  async run(values, [name]) {
    const agent = agentOf(name)
    const env = processEnv()
    const file = agent.file(env)
    if (values.undo) {
      restore(file, (text, before) => isOurs(agent, text, before))
      process.stderr.write(`${file} is as it was.\n`)
      return EXIT.ok
    }
    const named = values.url ?? (env['HAVERSACK_URL'] || DEFAULT_SERVICE_URL)
    const service = named.replace(/\/+$/, '')
    const fault = urlFault(service)
    if (fault !== null) throw new UsageError(`the URL of the service ${fault}`)
    const before = readConfigFile(file)
    const own = values.hook ? null : serviceFile(values, env)
    if (values.hook && values.redeem) {
      throw new UsageError('--redeem is for a base URL: take one of the two')
    }
    if (values.hook && values.statusline) {
      throw new UsageError('--statusline shows what a base URL saves: take one of the two')
    }
    const change = values.hook
      ? hookChange(agent, service)
      : withHour(agent, values['cache-1h'], urlChange(agent, service, env, values.statusline))
    const after = changed(change, file, before)
    if (after === before) {
      const what = values.hook ? 'hook' : 'base URL'
      process.stderr.write(`${file} has this ${what} already.\n`)
      if (own !== null) await switchFetchingOn(own, values)
      return EXIT.ok
    }
    process.stdout.write(`${file}${before === null ? ' (new)' : ''}\n`)
    process.stdout.write(`${lineDiff(before ?? '', after)}\n`)
    if (values.print) {
      if (own !== null) await switchFetchingOn(own, values)
      return EXIT.ok
    }
    const found = await foundAt(service)
    if (found !== null) process.stderr.write(`${found}\n`)
    if (!values.yes && !(await isAgreed('Write this?'))) return EXIT.failed
    replaceWithBackup(file, before, after, original =>
      [before ?? '', after].every(text => isOurs(agent, text, original)),
    )
    const lines = values.hook
      ? hookNext(agent, before ?? '')
      : [...whatNext(name as string, agent, env), ...warnings(agent, before ?? '', env)]
    process.stderr.write(`${[...lines, ...legendLines(env)].join('\n')}\n`)
    if (own !== null) await switchFetchingOn(own, values)
    return EXIT.ok
  },
})

/** @throws UsageError for a name that no agent has */
export function agentOf(name: string | undefined): Agent {
  const known = Object.keys(AGENTS)
  const agent = name !== undefined && Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined
  if (agent !== undefined) return agent
  const near = name === undefined ? '' : didYouMean(name, known)
  throw new UsageError(`AGENT is one of ${known.join(', ')}${near}`)
}

/** Makes another text of the text of a file. */
type TextChange = (text: string) => string

function urlChange(agent: Agent, service: string, env: Env, hasLine: boolean): TextChange {
  const { statusLine } = agent
  if (hasLine && statusLine === undefined) throw new UsageError('--statusline is for claude')
  const baseUrl = agent.baseUrl(service, env)
  return text => {
    const withUrl = agent.withBaseUrl(text, baseUrl)
    return hasLine && statusLine !== undefined ? statusLine.withLine(withUrl, service) : withUrl
  }
}

/** Asks for caches of an hour too, if that is wanted. */
function withHour({ cacheHour }: Agent, isWanted: boolean, change: TextChange): TextChange {
  if (!isWanted) return change
  if (cacheHour === undefined) throw new UsageError('--cache-1h is for claude')
  return text => cacheHour.with(change(text))
}

function hookChange({ hook }: Agent, service: string): TextChange {
  if (hook === undefined) throw new UsageError('--hook is for claude')
  return text => hook.withHook(text, service)
}

function changed(change: TextChange, file: string, before: string | null): string {
  try {
    return change(before ?? '')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const isDeep = error instanceof RangeError
    throw new Error(`${file}: ${isDeep ? 'is nested too deeply' : (error as Error).message}`)
  }
}

/** Whether a text is what `setup` made of `before`, with the settings of ours that it has. */
export function isOurs(agent: Agent, text: string, before: string | null): boolean {
  try {
    const ofHook = agent.hook?.commandIn(text)
    const ofLine = agent.statusLine?.commandIn(text)
    const { cacheHour } = agent
    const asked = (of: string) => (cacheHour?.isIn(text) ? cacheHour.with(of) : of)
    const withUrls = agent.baseUrlsIn(text).map(url => asked(agent.withBaseUrl(before ?? '', url)))
    const withLines = withUrls.map(withUrl =>
      ofLine === undefined
        ? undefined
        : agent.statusLine?.withLine(withUrl, ofLine.service, ofLine.program),
    )
    const withHook =
      ofHook === undefined
        ? null
        : agent.hook?.withHook(before ?? '', ofHook.service, ofHook.program)
    return [...withUrls, ...withLines, withHook].includes(text)
  } catch {
    return false
  }
}

/**
 * Whom the agent would reach now: `null` if that is Haversack. @throws Error if it is another
 * program, which would get the agent's key and all that it reads
 */
async function foundAt(service: string): Promise<string | null> {
  try {
    await identifyService(service)
    return null
  } catch (error) {
    const { message, cause } = error as Error
    if (cause === undefined) throw error
    return `${message} yet: start it with haversack serve`
  }
}

function whatNext(name: string, agent: Agent, env: Env): string[] {
  return [
    `Written. ${agent.upstream(env)}`,
    `While no service answers, ${name} cannot reach its model: haversack setup --undo ${name}`,
    `To check it: haversack doctor ${name}`,
  ]
}

/** What the model may be told, in a file of instructions; nothing if the configuration says so. */
function legendLines(env: Env): string[] {
  try {
    const legend = legendOf(readPipelineConfig(loadConfig({ env, insecure: true })))
    return legend === undefined ? [] : ['For AGENTS.md or CLAUDE.md, if you like:', legend]
  } catch (error) {
    // What is wrong with a configuration is for the service to say.
    if (error instanceof ConfigError) return []
    throw error
  }
}

function hookNext({ baseUrlsIn }: Agent, before: string): string[] {
  return [
    'Written. Start the service with: haversack serve',
    'While no service answers, results stay unchanged. To check it: haversack doctor claude',
    ...(baseUrlsIn(before).length === 0
      ? []
      : ['The file names a base URL too: if that is Haversack, one of the two is enough.']),
  ]
}

/** What may keep the agent from using the base URL, or its requests from their destination. */
function warnings(agent: Agent, before: string, env: Env): string[] {
  const { variable, baseUrlsIn, obstacle, left } = agent
  const found = obstacle?.(before, env)
  return [
    ...(left === undefined ? baseUrlsIn(before) : []).map(earlier => {
      return `The file had ${earlier} before: let that be the upstream of the service.`
    }),
    ...(variable !== undefined && env[variable]
      ? [`${variable} in your environment takes precedence over the file: unset it.`]
      : []),
    ...(left?.(before) ?? []),
    ...(found === undefined ? [] : [`${found.found}: ${found.advice}.`]),
  ]
}

interface Answers {
  readonly redeem?: boolean | undefined
  readonly yes?: boolean | undefined
  readonly print?: boolean | undefined
}

const QUESTION = 'May old and large results lose parts, which the proxy fetches if the model asks?'

/** The file of the service's own configuration; `null` if none is named. @throws UsageError */
function serviceFile({ redeem }: Answers, env: Env): string | null {
  const named = env['HAVERSACK_CONFIG']
  if (named) return withHome(named)
  if (!redeem) return null
  throw new UsageError('--redeem changes the file that HAVERSACK_CONFIG names: name one')
}

/** Sets `proxy.redeem = "auto"` there, if that is asked for or agreed to. */
export async function switchFetchingOn(
  file: string,
  { redeem, yes, print }: Answers,
  { isTerminal = process.stdin.isTTY, ask = isAgreed } = {},
): Promise<void> {
  if (!redeem && (!isTerminal || yes || print)) return
  const before = readConfigFile(file)
  const after = editTomlTable(before ?? '', ['proxy', 'redeem'], 'auto')
  if (after === before) return
  process.stdout.write(`${file}${before === null ? ' (new)' : ''}\n`)
  process.stdout.write(`${lineDiff(before ?? '', after)}\n`)
  if (print || (!yes && !(await ask(QUESTION)))) return
  replaceFile(file, before, after)
  process.stderr.write('Written. A service that runs reads it after a restart or SIGHUP.\n')
}

/** Lines around the change that are shown. */
const DIFF_CONTEXT = 2

/** A name whose value is a secret, and its sign. */
const SECRET_NAME =
  /(?:^|["'\s{,])[\w.-]*(?:key|token|secret|passw|credential|auth)[\w.-]*["']?\s*[:=]\s*/
/** Such a value: in quotes, or to the end of the line. */
const SECRET_VALUE = /"(?:[^"\\]|\\.)*"|'[^']*'|[^"'{[\s].*/
const SECRET = new RegExp(`(${SECRET_NAME.source})(${SECRET_VALUE.source})`, 'gi')
/** What a URL has before its host. */
const URL_USER = /(:\/\/)[^\s/@"']+@/g

/**
 * The lines that differ between two texts that have one place of change, with some around them:
 * `-` before removed ones, `+` before added ones. People copy what a terminal shows, so secrets are
 * left out.
 */
export function lineDiff(before: string, after: string): string {
  const [old, now] = [before, after].map(linesOf) as [readonly string[], readonly string[]]
  const most = Math.min(old.length, now.length)
  let same = 0
  while (same < most && old[same] === now[same]) same++
  let rest = 0
  while (rest < most - same && old.at(-1 - rest) === now.at(-1 - rest)) rest++
  const kept = (line: string) => `  ${line}`
  return [
    ...old.slice(Math.max(0, same - DIFF_CONTEXT), same).map(kept),
    ...old.slice(same, old.length - rest).map(line => `- ${line}`),
    ...now.slice(same, now.length - rest).map(line => `+ ${line}`),
    ...old.slice(old.length - rest, old.length - rest + DIFF_CONTEXT).map(kept),
  ]
    .map(line => line.replace(SECRET, '$1…').replace(URL_USER, '$1…@').trimEnd())
    .filter(line => line !== '')
    .join('\n')
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
