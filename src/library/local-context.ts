import { compressionOf } from '../config/compression.ts'
import { processEnv } from '../config/env.ts'
import { CONTENT_DEPTH } from '../config/fixed-limits.ts'
import { layersInProject } from '../config/layers/project-file.ts'
import { loadConfig } from '../config/load.ts'
import { readPipelineConfig } from '../config/pipeline.ts'
import { cacheFolder } from '../config/user-folders.ts'
import { LOCAL_TENANT } from '../core/base/tenant-name.ts'
import type { OperationContext } from '../core/operations/operation.ts'
import { createTokenCounters, type TokenCounters } from '../core/tokens/counters.ts'
import { tiktokenIds } from '../runtime/tiktoken.ts'
import { loadVocabularies } from '../runtime/vocabulary.ts'

interface LocalTerms {
  /** The folder whose project's file applies; absent: none does. */
  readonly project?: string
}

/** By the folder that keeps the vocabularies: a thread reads these once. */
const counters = new Map<string, TokenCounters>()

function countersOf(cacheDir: string): TokenCounters {
  const known = counters.get(cacheDir)
  if (known !== undefined) return known
  const created = createTokenCounters(loadVocabularies({ cacheDir }), tiktokenIds)
  counters.set(cacheDir, created)
  return created
}

/**
 * The context of operations in this thread, by the service's own configuration. So operations here
 * and in a service give the same answers.
 */
export function createLocalContext({ project }: LocalTerms = {}): OperationContext {
  // This process listens on no port, so it needs no keys.
  const config = loadConfig({ env: processEnv(), insecure: true })
  const { limits } = config
  const place = project === undefined ? config : layersInProject(config, project)
  return {
    counters: countersOf(cacheFolder(processEnv())),
    maxDepth: CONTENT_DEPTH,
    maxDecodedChars: limits.max_body_bytes,
    pipeline: readPipelineConfig(place, { tenant: LOCAL_TENANT }),
    ...(compressionOf(config.compression, LOCAL_TENANT) === true ? {} : { isPaused: true }),
    keepsOriginals: false,
  }
}
