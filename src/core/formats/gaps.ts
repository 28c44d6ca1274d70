import { NumberLiteral } from '../json/value.ts'

/**
 * Items of a list that are not shown. Formats write it as they write a number: bare, as a row of
 * its own in a table. JSON cannot have one.
 */
export class Gap extends NumberLiteral {
  readonly items: number

  constructor(items: number) {
    super(`… ${items} not shown`)
    this.items = items
  }
}

const ROW = /^ *(?:- )?… ([1-9]\d{0,14}) not shown$/
const IN_BRACKETS = /(?:\[… (\d+) not shown(?:, ?)?|, ?… (\d+) not shown)/g
const HEAD = /\[(\d+) of \d+\]:$/gm

/** A text in a value format without its gaps, and the items of each, in order. */
export interface WithoutGaps {
  readonly text: string
  readonly gaps: readonly number[]
}

/**
 * Takes the gaps out of a text that a value format wrote. The rest is the text of a list without
 * them: `[8 of 64]:` is `[8]:` again. Linear.
 */
export function withoutGaps(text: string): WithoutGaps {
  if (!text.includes(' not shown')) return { text, gaps: [] }
  const gaps: number[] = []
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const row = ROW.exec(line)?.[1]
    if (row === undefined) {
      lines.push(
        line.replace(IN_BRACKETS, (_, first?: string, later?: string) => {
          gaps.push(Number(first ?? later))
          return first === undefined ? '' : '['
        }),
      )
    } else gaps.push(Number(row))
  }
  // Without gaps, what looks like such a head is data.
  return gaps.length === 0
    ? { text, gaps }
    : { text: lines.join('\n').replace(HEAD, '[$1]:'), gaps }
}
