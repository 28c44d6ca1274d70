import { type Outcome, RPC_ERRORS } from '../../json-rpc.ts'
import { member, shortValue } from '../../members.ts'
import { MODERN_ERRORS } from './request-rules.ts'

/** The code of an error; `null` if it has none. */
export function errorCode({ error }: Extract<Outcome, { kind: 'error' }>): number | null {
  const raw = member(error, 'code')
  const code = raw == null ? null : shortValue(raw)
  return typeof code === 'number' ? code : null
}

const STATUS: ReadonlyMap<number, 400 | 404> = new Map([
  [RPC_ERRORS.parse, 400],
  [RPC_ERRORS.invalidRequest, 400],
  [RPC_ERRORS.methodNotFound, 404],
  [MODERN_ERRORS.headerMismatch, 400],
  [MODERN_ERRORS.missingCapability, 400],
  [MODERN_ERRORS.unsupportedVersion, 400],
])

/** The HTTP status of an answer. Bad parameters of a method are an answer like any other. */
export function statusOf(outcome: Outcome): 200 | 400 | 404 {
  if (outcome.kind === 'result') return 200
  return STATUS.get(errorCode(outcome) ?? 0) ?? 200
}
