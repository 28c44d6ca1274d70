import type { Config } from '../../config/config.ts'
import { processEnv } from '../../config/env.ts'
import { upstreamsOf } from '../../config/upstreams.ts'
import { urlFault } from '../../config/url-fault.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import { jsonOption } from '../../console/options.ts'
import { serviceOptions } from '../../console/service-client.ts'
import { alignColumns } from '../../console/table.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { AGENTS } from '../setup/agents.ts'
import { agentOf } from '../setup/command.ts'
import { askCache } from './ask-cache.ts'
import { checkAgent, checkClaudeHook } from './check-agent.ts'
import {
  checkCacheLife,
  checkConfig,
  checkEncoding,
  checkNode,
  checkStore,
} from './check-machine.ts'
import { checkService, checkUpstream } from './check-service.ts'
import type { Finding } from './finding.ts'

export const doctorCommand = defineCommand({
  name: 'doctor',
  details:
    `AGENT is one of ${Object.keys(AGENTS).join(', ')}. A line for each check, with what to do. ` +
    'The exit code is 1 if something is wrong. Nothing is changed, and no key is shown. ' +
    'anthropic --cache asks Anthropic with ANTHROPIC_API_KEY what no document says of its cache, ' +
    'and says first what that costs.',
  examples: ['doctor', 'doctor claude', 'doctor anthropic --cache'],
  operands: '[AGENT]',
  words: Object.keys(AGENTS),
  maxOperands: 1,
  options: {
    ...serviceOptions,
    ...jsonOption,
    cache: { type: 'boolean', help: 'Ask a vendor about its cache (anthropic), which costs money' },
    yes: { type: 'boolean', help: 'Do not ask before' },
  },
  async run(values, [name]) {
    const env = processEnv()
    if (values.cache) {
      if (name !== 'anthropic') throw new UsageError('--cache is for anthropic')
      return shown(await askCache(env['ANTHROPIC_API_KEY'], values.yes), values.json)
    }
    const agent = name === undefined ? null : agentOf(name)
    const [configured, config] = checkConfig(env)
    const url = (values.url ?? (env['HAVERSACK_URL'] || addressOf(config))).replace(/\/+$/, '')
    const fault = urlFault(url)
    if (fault !== null) throw new UsageError(`the URL of the service ${fault}`)
    const { username, password } = new URL(url)
    if (username + password !== '') {
      throw new UsageError('the URL of the service names a user: give a key instead')
    }
    const key = values.key ?? (env['HAVERSACK_KEY'] || undefined)
    const findings: Finding[] = [
      checkNode(process.version),
      configured,
      ...(config === null ? [] : [checkStore(config), checkEncoding(), ...checkCacheLife(config)]),
      ...(await checkService({ url, key })),
      ...(await Promise.all(
        (config === null ? [] : upstreamsOf(config.proxy)).map(({ name: of, url: base }) =>
          checkUpstream(of, base),
        ),
      )),
      ...(agent === null ? [] : [checkAgent(name as string, agent, url, env)]),
      ...(agent?.hook === undefined ? [] : [await checkClaudeHook(agent, url, env)]),
    ]
    return shown(findings, values.json)
  },
})

function shown(findings: readonly Finding[], asJson: boolean): number {
  process.stdout.write(asJson ? `${JSON.stringify(findings)}\n` : report(findings))
  return findings.some(({ state }) => state === 'fail') ? EXIT.failed : EXIT.ok
}

/** Where `serve` listens with a configuration. */
function addressOf(config: Config | null): string {
  const { host = '127.0.0.1', port = 8787 } = config ?? {}
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function report(findings: readonly Finding[]): string {
  const lines = alignColumns(findings.map(({ check, state, found }) => [state, check, found]))
  const withAdvice = findings.flatMap(({ advice }, i) => [
    lines[i],
    ...(advice === undefined ? [] : [`      → ${advice}`]),
  ])
  return `${withAdvice.join('\n')}\n`
}
