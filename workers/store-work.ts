import { compressed } from '../src/core/base/compressed.ts'
import type { KeepItem } from '../src/core/contract/operation-result.ts'
import type { SessionChanges } from '../src/core/sessions/journal/changes.ts'
import { packChanges } from '../src/core/sessions/journal/packed-changes.ts'
import type { UnpackedOutcome } from './job-runner.ts'
import type { WorkerSetup } from './protocol.ts'

/**
 * What a thread does for a store whose calls are made on the main thread: it compresses the texts
 * to keep, and the changes of sessions. Both take longer than the call itself.
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

  return unpacked => {
    if (!asked.sessions) return unpacked
    const { outcome, keep } = unpacked
    const changes = outcome.kind === 'done' ? outcome.changes : undefined
    return {
      ...unpacked,
      keep: keep.map(compress),
      outcome: changes === undefined ? outcome : { ...outcome, changes: changes.map(pack) },
    }
  }
}

function pack(changes: SessionChanges): SessionChanges {
  // A view of a pooled buffer would take all of it along to the main thread.
  return { ...changes, bytes: new Uint8Array(changes.bytes), packed: packChanges(changes.bytes) }
}
