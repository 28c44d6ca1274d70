import { defineCommand } from '../../console/command.ts'
import {
  DEFAULT_SERVICE_URL,
  namedService,
  serviceAt,
  serviceOptions,
} from '../../console/service-client.ts'
import type { ArmsAnswer } from '../../core/contract/arms.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

export const armsCommand = defineCommand({
  name: 'arms',
  details:
    'Needs arms.explore in the configuration: some results stay whole, and what agents do after ' +
    'them is compared.',
  examples: ['arms', 'arms --json'],
  operands: '',
  maxOperands: 0,
  options: {
    ...serviceOptions,
    json: { type: 'boolean', help: 'The answer of the service' },
  },
  run: printArms,
})

interface ArmsValues {
  readonly url: string | undefined
  readonly key: string | undefined
  readonly json: boolean
}

/** Prints what leaving out saves by class, as a running service counts it. */
export async function printArms(values: ArmsValues): Promise<number> {
  const service = namedService(values) ?? serviceAt(DEFAULT_SERVICE_URL, values)
  const answer = await service.get<ArmsAnswer>('/v1/arms', {})
  const lines = values.json ? [JSON.stringify(answer)] : armsLines(answer)
  process.stdout.write(`${lines.join('\n')}\n`)
  return EXIT.ok
}

/** A line for each class, and one for each difference between sessions. */
export function armsLines({ settings, classes, units }: ArmsAnswer): readonly string[] {
  const { holdout, explore } = settings
  if (holdout === 0 && explore === 0 && classes.length === 0) {
    return ['No arms: set arms.explore or arms.holdout in pipeline_config.toml.']
  }
  const sessions = `${units.treated} sessions treated, ${units.held_out} held out`
  return [
    ...classes.map(classLine),
    sessions,
    ...units.differences.map(({ measure, difference, p }) => {
      const signed = `${difference < 0 ? '−' : '+'}${number(Math.abs(difference))}`
      return `  ${measure.replace('_', ' ')} of a session: ${signed} (p ${p.toFixed(3)})`
    }),
  ]
}

function classLine(each: ArmsAnswer['classes'][number]): string {
  const { class: name, direct, retrieved, excess, net, verdict, missing } = each
  const sum = `${number(direct)} − ${number(retrieved)} − ${number(excess)}`
  if (net === null) return `${name}: ${sum}, unknown: about ${number(missing)} more results`
  const { estimate, low, high } = net
  const result = `${name}: ${sum} = ${number(estimate)} [${number(low)}, ${number(high)}]`
  return verdict === 'unknown'
    ? `${result}, unknown: about ${number(missing)} more results`
    : `${result}, ${verdict}`
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US').replace('-', '−')
}
