import { defineCommand, UsageError } from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import { jsonOption, tokenizerFieldsOf, tokenizerOptions } from '../../console/options.ts'
import { alignColumns } from '../../console/table.ts'
import { ENCODINGS, PROFILES, tokenizerId } from '../../core/tokens/profiles.ts'
import { createReferenceCounter } from '../../core/tokens/reference-counter.ts'
import { type CountAnswer, count } from '../../index.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { tiktokenIds } from '../../runtime/tiktoken.ts'

export const countCommand = defineCommand({
  name: 'count',
  examples: ['count --model gpt-5 result.json'],
  operands: '[FILE…]',
  maxOperands: Number.POSITIVE_INFINITY,
  options: {
    ...tokenizerOptions,
    check: { type: 'boolean', help: 'Compare each count with that of tiktoken' },
    ...jsonOption,
  },
  async run(values, files) {
    const names = files.length === 0 ? ['-'] : files
    const contents: string[] = []
    for (const name of names) contents.push(await readInput(name))
    const answer = count({ contents, ...tokenizerFieldsOf(values) })
    const counts = answer.counts ?? []
    if (!answer.exact) process.stderr.write(`estimated (${answer.tokenizer})\n`)
    if (values.json) process.stdout.write(`${JSON.stringify(answer)}\n`)
    else if (counts.length === 1) process.stdout.write(`${counts[0]}\n`)
    else {
      const rows = names.map((name, index) => [counts[index] ?? 0, name])
      process.stdout.write(`${alignColumns(rows).join('\n')}\n`)
    }
    return values.check ? compare(names, contents, answer) : EXIT.ok
  },
})

/** Prints the files whose count is not tiktoken's; fails if there is one. */
function compare(
  names: readonly string[],
  contents: readonly string[],
  { tokenizer, counts = [] }: CountAnswer,
): number {
  const encoding = ENCODINGS.find(each => each === PROFILES[tokenizerId(tokenizer)].counting)
  if (encoding === undefined) {
    throw new UsageError(`--check: tiktoken has no vocabulary for ${tokenizer}`)
  }
  const reference = createReferenceCounter(encoding, tiktokenIds)
  const faults = contents.flatMap((text, at) => {
    const theirs = reference.count(text)
    const isEqual = theirs === counts[at]
    return isEqual ? [] : [`${names[at]}: ${counts[at]} tokens, by tiktoken ${theirs}\n`]
  })
  process.stderr.write(faults.join(''))
  if (faults.length > 0) return EXIT.failed
  process.stderr.write(`tiktoken agrees (${encoding})\n`)
  return EXIT.ok
}
