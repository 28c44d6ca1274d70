import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { readPipelineConfig } from '../config/pipeline.ts'
import type { OperationContext } from '../core/operations/operation.ts'
import { createTokenCounters } from '../core/tokens/counters.ts'
import { loadVocabularies } from './vocabulary.ts'

/**
 * What operations use in this thread: by the service's own configuration, so that both give the
 * same answers.
 */
export function createLocalContext(): OperationContext {
  // Nothing listens here.
  const config = loadConfig({ env: processEnv(), insecure: true })
  const { cache_dir, limits } = config
  return {
    counters: createTokenCounters(loadVocabularies({ cacheDir: cache_dir })),
    maxDepth: limits.content_depth,
    maxDecodedChars: limits.max_body_bytes,
    pipeline: readPipelineConfig(config),
    keepsOriginals: false,
  }
}
