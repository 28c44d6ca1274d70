import type { FreshResults, SentReport } from '../../core/contract/operation-result.ts'
import { rowOf } from '../jobs/report-results.ts'

/**
 * The reports of a request without those of results that are recorded already: who recorded
 * them has counted them.
 * @param isKnown whether the result with this key of a record was recorded before
 */
export function withoutKnownResults(
  reports: readonly SentReport[],
  isKnown: (key: string) => boolean,
): readonly SentReport[] {
  const isLeft = ({ recordKey }: SentReport) => recordKey === undefined || !isKnown(recordKey)
  const left = reports.filter(isLeft)
  if (left.length === reports.length) return reports
  return left.map(each => {
    if (each.rewrite?.fresh === undefined) return each
    const { fresh, ...rewrite } = each.rewrite
    const counted = countResults(left, fresh.tokenizer)
    return { ...each, rewrite: counted === null ? rewrite : { ...rewrite, fresh: counted } }
  })
}

/** The sums of the results that reports are about; `null` if there are none. */
function countResults(reports: readonly SentReport[], tokenizer: string): FreshResults | null {
  const results = reports.filter(({ recordKey }) => recordKey !== undefined)
  if (results.length === 0) return null
  let [before, after] = [0, 0]
  for (const each of results) {
    const tokens = rowOf(each)?.tokens
    before += tokens?.before ?? 0
    after += tokens?.after ?? 0
  }
  return { tokenizer, count: results.length, before, after }
}
