import { compressed } from '../src/core/base/zlib-calls.ts'
import type { KeepItem } from '../src/core/contract/operation-result.ts'
import type { UnpackedOutcome } from './job-runner.ts'
import type { WorkerSetup } from './protocol.ts'

/**
 * What a thread does for a store whose calls are made on the main thread: it compresses the texts
 * to keep. That takes longer than the call itself.
 */
export function createStoreWork({
  asked,
  compressed: sizes,
}: Pick<WorkerSetup, 'asked' | 'compressed'>): (unpacked: UnpackedOutcome) => UnpackedOutcome {
  function compress(item: KeepItem): KeepItem {
    const { length } = item.bytes
    if (sizes === undefined || length < sizes.fromBytes || length > sizes.toBytes) return item
    const smaller = compressed(item.bytes)
    return smaller === undefined ? item : { ...item, compressed: smaller }
  }

  return unpacked =>
    asked.sessions ? { ...unpacked, keep: unpacked.keep.map(compress) } : unpacked
}
