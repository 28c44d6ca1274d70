import type { OperationContext } from '../../src/core/operations/operation.ts'
import { createLocalContext } from '../../src/library/local-context.ts'

let shared: OperationContext | undefined

/** The context of operations in this thread. Its vocabularies are read once for all test files. */
export function localContext(): OperationContext {
  shared ??= createLocalContext()
  return { ...shared }
}
