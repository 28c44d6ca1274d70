import { decodeContent } from '../../src/core/pipeline/decode.ts'
import { CASES, UNDECODABLE } from '../../test/unit/core/formats/cases.ts'
import { TEXT_CASES, UNDECODABLE_TEXTS } from '../../test/unit/core/formats/text-cases.ts'
import { NO_TREES, TREE_CASES } from '../../test/unit/core/formats/tree-cases.ts'
import { createSum } from './sum.ts'

const MOST_CHARS = 10_000_000

/** What each kept case of the decoders decodes to, or the error that it gives. */
export async function* decodedCases(): AsyncGenerator<readonly [string, string]> {
  const csv = Object.values(CASES).flatMap(({ csv: text }) => (text === null ? [] : [text]))
  yield ['csv', decodeAll(csv.map(text => ['csv@1', text]))]
  yield ['tree', decodeAll(Object.values(TREE_CASES).map(([, text]) => ['tree@2', text]))]
  yield ['text', decodeAll(Object.values(TEXT_CASES).flatMap(textCase))]
  const refused = UNDECODABLE.map(([format, text]) => [format, text] as const)
  const refusedTrees = NO_TREES.map(([text]) => ['tree@2', text] as const)
  const refusedTexts = UNDECODABLE_TEXTS.map(([format, text]) => [format, text] as const)
  yield ['refused', decodeAll([...refused, ...refusedTrees, ...refusedTexts])]
}

type Encoded = readonly [format: string, text: string]

function textCase({ format, content }: { format: string; content: string | null }): Encoded[] {
  const [name = '', ...style] = format.split(';')
  return content === null ? [] : [[[`${name}@1`, ...style].join(';'), content]]
}

function decodeAll(cases: readonly Encoded[]): string {
  const sum = createSum()
  for (const [format, text] of cases) {
    sum.add(format)
    sum.add(decodeOne(format, text))
  }
  return sum.hex()
}

function decodeOne(format: string, text: string): string {
  try {
    return JSON.stringify(decodeContent(text, format, MOST_CHARS))
  } catch (error) {
    return `error: ${error instanceof Error ? error.message : String(error)}`
  }
}
