import { homedir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/default-pipeline.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { createProgress } from '../../src/pool/slots.ts'
import { loadVocabularies } from '../../src/runtime/vocabulary.ts'
import type { WorkerSetup } from '../../workers/protocol.ts'

/**
 * What a worker thread of the service is given, for one thread, with limits that benches do not
 * meet.
 */
export function benchSetup(): WorkerSetup {
  return {
    asked: { sessions: false },
    vocabularies: loadVocabularies({ cacheDir: join(homedir(), '.cache', 'haversack') }),
    progress: createProgress(1),
    pipeline: DEFAULT_PIPELINE,
    rewrites: createBodyMemory({ bytes: 1 << 20 }),
    conversations: 8,
    limits: {
      envelope: { maxDepth: 64, maxValues: 1e6 },
      contentDepth: 256,
      decodedChars: 2 ** 24,
    },
  }
}
