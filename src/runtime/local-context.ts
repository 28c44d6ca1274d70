import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { readPipelineConfig } from '../config/pipeline.ts'
import type { OperationContext } from '../core/operations/operation.ts'
import { createTokenCounters } from '../core/tokens/counters.ts'
import { LOCAL_TENANT } from './local-sessions.ts'
import { loadVocabularies } from './vocabulary.ts'

/**
 * The context of operations in this thread, by the service's own configuration. So operations here
 * and in a service give the same answers.
 */
export function createLocalContext(): OperationContext {
  // This process listens on no port, so it needs no keys.
  const config = loadConfig({ env: processEnv(), insecure: true })
  const { cache_dir, limits } = config
  return {
    counters: createTokenCounters(loadVocabularies({ cacheDir: cache_dir })),
    maxDepth: limits.content_depth,
    maxDecodedChars: limits.max_body_bytes,
    pipeline: readPipelineConfig(config, { tenant: LOCAL_TENANT }),
    keepsOriginals: false,
  }
}
