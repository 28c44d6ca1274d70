import type { AppDeps } from '../../http/context.ts'

/** What a command or a gateway uses of the service beside its HTTP server. */
export type EmbeddedDeps = Pick<
  AppDeps,
  'pool' | 'originals' | 'metrics' | 'sessions' | 'book' | 'tracing' | 'enrichment'
>
