import { EndedPasses, type EndedPassOptions } from '../../src/access/ended-passes.ts'

/** Without a file, if none is named. A failed write throws. */
export function ownEndedPasses(options: Partial<EndedPassOptions> = {}) {
  const onUnwritten = (error: unknown) => {
    throw error
  }
  return new EndedPasses({ file: null, now: () => 0, onUnwritten, ...options })
}
