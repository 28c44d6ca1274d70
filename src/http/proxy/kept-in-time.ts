import { AppError } from '../../core/base/errors.ts'
import type { TextBytes } from '../../core/base/text-bytes.ts'
import type { Done, JobResult } from '../../pool/job.ts'
import { type Originals, type Stay, worstOf } from '../../store/originals.ts'
import type { RecordKeeping } from './run-by-record.ts'

async function areKept(
  { keep, markers }: Done,
  tenant: string,
  originals: Pick<Originals, 'keep' | 'renew'>,
): Promise<Stay> {
  const keepOne = async (text: TextBytes): Promise<Stay> => {
    try {
      await originals.keep(tenant, text)
      return 'stay'
    } catch (error) {
      if (error instanceof AppError) return error.code === 'overloaded' ? 'unheard' : 'gone'
      throw error
    }
  }
  return worstOf(await Promise.all([originals.renew(tenant, markers), ...keep.map(keepOne)]))
}

/**
 * Keeps the originals that markers of a result name. Waits for a store that is shared and is not
 * heard.
 * @returns whether all of them are there
 */
export async function keptInTime(
  result: JobResult,
  originals: Pick<Originals, 'keep' | 'renew'>,
  { tenant, rewrites, bounds }: Pick<RecordKeeping, 'tenant' | 'rewrites' | 'bounds'>,
): Promise<Stay> {
  if (!result.ok) return 'stay'
  const { markers, records } = result
  const ask = () => areKept(result, tenant, originals)
  const isEarlier = markers.length > 0 || records.some(each => each.isEarlier === true)
  const isHeard = (stay: Stay) => stay !== 'unheard'
  return rewrites.waits?.hear({ ask, isHeard, isEarlier, bounds }) ?? ask()
}
