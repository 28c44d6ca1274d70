import { styleText } from 'node:util'
import { processEnv } from '../../config/env.ts'
import { defineCommand } from '../../console/command.ts'
import { figureLines, type ReportFigures } from '../../console/figure-lines.ts'
import {
  agentService,
  agentServiceOption,
  DEFAULT_SERVICE_URL,
  serviceAt,
  serviceOptions,
} from '../../console/service-client.ts'
import type { SavingsAnswer } from '../../core/contract/savings.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

export const savingsCommand = defineCommand({
  name: 'savings',
  details:
    'Of everything that the service has accounts of, or of one session as the agent calls it. ' +
    'Claude Code names its session in each request.',
  examples: ['savings', 'savings --session 0f5b7c1e-4a2d-4c6b-9d3e-8a7b6c5d4e3f', 'savings --json'],
  operands: '',
  maxOperands: 0,
  options: {
    session: { type: 'string', value: 'ID', help: 'One session, as the agent calls it' },
    ...serviceOptions,
    url: agentServiceOption,
    json: { type: 'boolean', help: 'The answer of the service' },
  },
  run: printSavings,
})

interface SavingsValues {
  readonly session: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
  readonly json: boolean
}

/** Prints what a running service saved, of one session or by vendor, and why caches missed. */
export async function printSavings(values: SavingsValues): Promise<number> {
  const url = values.url ?? agentService(processEnv()) ?? DEFAULT_SERVICE_URL
  const service = serviceAt(url, values)
  const { session } = values
  const query = { ...(session === undefined ? {} : { session }) }
  const answer = await service.get<SavingsAnswer>('/v1/savings', query)
  const lines = values.json ? [JSON.stringify(answer)] : savingsLines(answer)
  process.stdout.write(`${lines.join('\n')}\n`)
  return EXIT.ok
}

/** The figures of the session that was asked for, else of each vendor. */
export function savingsLines({
  session,
  vendors,
  other_lives: others = [],
}: SavingsAnswer): readonly string[] {
  if (session !== undefined) return figuresOf(session)
  const all = Object.entries(vendors)
  if (all.length === 0) return ['No model request has passed through the proxies yet.']
  const lines = all.flatMap(([vendor, account]) =>
    all.length === 1 ? figuresOf(account) : [`${vendor}:`, ...figuresOf(account)],
  )
  return [...lines, ...others.filter(isCheaper).map(otherLine)]
}

type OtherLife = SavingsAnswer['other_lives'][number]

const isCheaper = ({ hour, guarded }: OtherLife) => Math.max(hour, guarded) > 0

/** What other lives would have cost, with the setting that gets the cheaper one. */
function otherLine({ conversations, input, hour, guarded }: OtherLife): string {
  const [long, auto] = [hour, guarded].map(saved => {
    return `${saved < 0 ? '+' : '−'}${((100 * Math.abs(saved)) / input).toFixed(1)} %`
  })
  const how =
    guarded >= hour
      ? 'cache_life.life = "auto"'
      : 'cache_life.life = "1h", or haversack setup claude --cache-1h'
  const of = `of the input of the last ${conversations} conversations`
  return `instead:  an hour ${long}, auto ${auto} ${of}: ${how}`
}

type Accounted = Pick<SavingsAnswer['conversations'][number], 'misses' | 'life' | 'definitions'> & {
  readonly figures: ReportFigures
}

function figuresOf({ figures, misses, life, definitions }: Accounted): readonly string[] {
  const { requests } = figures
  if (requests === null || requests.count > 0) {
    const more = [...lifeLines(life), ...definitionLines(definitions)]
    return [...figureLines(figures), ...missLines(misses), ...more]
  }
  return ['No model request of this session has passed through the proxies.']
}

/** What was bought for longer lives; a loss is red. */
function lifeLines(life: Accounted['life']): readonly string[] {
  if (life === undefined) return []
  const { pings, premium, pinged, avoided, saving } = life
  const [hour, asked, less] = [premium, pinged, avoided].map(whole)
  const what = `${hour} for an hour, ${asked} for ${whole(pings)} pings, ${less} of misses avoided`
  return [signedLine('lives:   ', saving, what)]
}

/** What definitions of tools cost a request, and what deferred ones spared; a loss is red. */
function definitionLines(definitions: Accounted['definitions']): readonly string[] {
  if (definitions === undefined) return []
  const { requests, tokens, used, deferred, searches, spared, searched, saving } = definitions
  const each = `${whole(tokens / requests)} tokens of definitions a request`
  const line = `tools:    ${each}, ${percent(used / tokens)} of them of tools that were called`
  if (deferred === 0 && searches === 0) return [line]
  const cost = `${whole(searched)} for ${whole(searches)} searches`
  const what = `${whole(spared)} of deferred tools, ${cost}`
  return [line, signedLine('deferred:', saving, what)]
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`

function signedLine(name: string, saving: number, what: string): string {
  const line = `${name} ${saving < 0 ? '−' : '+'}${whole(Math.abs(saving))}: ${what}`
  return saving < 0 && process.stdout.isTTY ? styleText('red', line) : line
}

const whole = (amount: number) => Math.round(amount).toLocaleString('en-US')

/** What was cached and not read, a line for each reason, the dearest first. */
function missLines(misses: Accounted['misses']): readonly string[] {
  return misses.map(({ reason, count, tokens, cost }) => {
    const [lost, above] = [tokens, Math.round(cost)].map(each => each.toLocaleString('en-US'))
    const requests = count === 1 ? '1 request' : `${count.toLocaleString('en-US')} requests`
    return `missed:   ${reason}: ${requests}, ${lost} cached tokens not read, ${above} more billed`
  })
}
