import { type EncodeAnswer, type EncodeRequest, encode, explain } from '../index.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { defineCommand, type Options, UsageError, type ValuesOf } from './command.ts'
import { writeExplanation } from './explanation.ts'
import { readInput } from './input.ts'
import {
  budgetFieldsOf,
  budgetOptions,
  itemFieldsOf,
  itemOptions,
  jsonOption,
  tokenizerFieldsOf,
  tokenizerOptions,
} from './options.ts'
import { namedService, type ServiceClient, serviceOptions } from './service-client.ts'

const options = {
  ...tokenizerOptions,
  formats: { type: 'string', value: 'LIST', help: 'Only these formats, separated by commas' },
  ...budgetOptions,
  ...itemOptions,
  session: {
    type: 'string',
    value: 'ID',
    help: 'The agent context that it goes to (needs a service)',
  },
  tool: { type: 'string', value: 'NAME', help: 'The tool whose result it is' },
  ...serviceOptions,
  explain: {
    type: 'boolean',
    help: 'Show every candidate, how each part was written, and the plan of a budget',
  },
  ...jsonOption,
} as const satisfies Options

type Values = ValuesOf<typeof options>

export const encodeCommand = defineCommand({
  name: 'encode',
  summary: 'Make a tool result smaller; the text goes to stdout, what was done to stderr',
  operands: '[FILE]',
  maxOperands: 1,
  options,
  async run(values, [file]) {
    const fields = fieldsOf(values)
    if (values.explain) return explainInput(values, { ...fields, file })
    const service = serviceFor(values)
    const request = { content: await readInput(file), ...fields }
    const answer = await (service?.post<EncodeAnswer>('/v1/encode', request) ?? encode(request))
    if (values.json) {
      process.stdout.write(`${JSON.stringify(answer)}\n`)
      return EXIT.ok
    }
    process.stdout.write(answer.content)
    // A terminal shows both streams: keep the last line of the text to itself.
    if (process.stdout.isTTY) process.stderr.write('\n')
    process.stderr.write(`${accountOf(answer)}\n`)
    return EXIT.ok
  },
})

async function explainInput(
  values: Values,
  { file, ...fields }: Omit<EncodeRequest, 'content'> & { file: string | undefined },
): Promise<number> {
  const elsewhere = (['url', 'session'] as const).find(name => values[name] !== undefined)
  if (elsewhere !== undefined) {
    throw new UsageError(`--explain looks into this process; it does not go with --${elsewhere}`)
  }
  const explanation = explain({ content: await readInput(file), ...fields })
  const isJson = values.json
  process.stdout.write(isJson ? `${JSON.stringify(explanation)}\n` : writeExplanation(explanation))
  return EXIT.ok
}

/** What the options say of a request. */
function fieldsOf(values: Values): Omit<EncodeRequest, 'content'> {
  const formats = values.formats
  const session = values.session
  const tool = values.tool
  return {
    ...tokenizerFieldsOf(values),
    ...budgetFieldsOf(values),
    ...itemFieldsOf(values),
    ...(formats === undefined ? {} : { formats: formats.split(',') }),
    ...(session === undefined ? {} : { session }),
    ...(tool === undefined ? {} : { tool }),
  }
}

/**
 * The service that a call goes to: the one of `--url`, or where parts may go or earlier results
 * count, which only a service keeps. `undefined`: this process does it.
 */
function serviceFor(values: Values): ServiceClient | undefined {
  const { mode = 'lossless' } = budgetFieldsOf(values)
  const reasons = [
    ...(mode === 'lossless' ? [] : [`--mode ${mode}`]),
    ...(values.session === undefined ? [] : ['--session']),
  ]
  if (reasons.length === 0 && values.url === undefined) return undefined
  const service = namedService(values)
  if (service !== undefined) return service
  throw new UsageError(
    `${reasons.join(' and ')} needs a running service, which keeps originals: name it by --url or HAVERSACK_URL`,
  )
}

/** One line: what it is, what it became, what saved how much, and which hints it has. */
function accountOf({ shape, layer, format, tokens, savings, hints }: EncodeAnswer): string {
  const { dedup_tokens, encoder_tokens, elided_tokens } = savings
  const counted = `${tokens.tokenizer}${tokens.exact ? '' : ', estimated'}`
  const saved = `dedup ${dedup_tokens}, encoder ${encoder_tokens}, omission ${elided_tokens}`
  const families = [...new Set(hints.map(({ family }) => family))]
  const hinted = families.length === 0 ? '' : `; hints: ${families.join(', ')}`
  return (
    `${shape}, ${layer}, format ${format}: ${tokens.baseline} → ${tokens.final} tokens ` +
    `(${counted}); saved: ${saved}${hinted}`
  )
}
