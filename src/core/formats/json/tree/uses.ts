import type { Uses } from '../../../reading/constructs.ts'
import { priceOfUse, type Reading } from '../../../reading/price.ts'
import type { Column } from './column.ts'

/**
 * The constructs of a header: columns with a pattern, those inside others too. Recursion is as deep
 * as the columns.
 */
export function usesOf(columns: readonly Column[]): Uses | undefined {
  let uses: Uses | undefined
  for (const column of columns) {
    if (column.kind === 'pattern') uses = addUses(uses, { [constructOf(column.leavesNumbers)]: 1 })
    else if (column.kind === 'group' || column.kind === 'rows') {
      uses = addUses(uses, usesOf(column.columns))
    }
  }
  return uses
}

/** What a column with a pattern is to a reader. */
export function constructOf(leavesNumbers = false): 'affix' | 'affix_number' {
  return leavesNumbers ? 'affix_number' : 'affix'
}

/** The constructs of two parts of a text. */
export function addUses(first: Uses | undefined, second: Uses | undefined): Uses | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return {
    affix: (first.affix ?? 0) + (second.affix ?? 0),
    affix_number: (first.affix_number ?? 0) + (second.affix_number ?? 0),
    table: (first.table ?? 0) + (second.table ?? 0),
  }
}

/** The price of each use of these constructs. */
export function priceOfUses(uses: Uses | undefined, reading: Reading): number {
  const { affix = 0, affix_number = 0, table = 0 } = uses ?? {}
  let price = 0
  if (affix > 0) price += affix * priceOfUse(reading, 'affix')
  if (affix_number > 0) price += affix_number * priceOfUse(reading, 'affix_number')
  if (table > 0) price += table * priceOfUse(reading, 'table')
  return price
}
