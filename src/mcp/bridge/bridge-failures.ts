import type { IncomingMessage } from 'node:http'
import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import type { HttpEnd } from '../upstream/http-exchange.ts'

const SERVICE = 'The Haversack service'

/** Why a request has no answer of the service. */
export type BridgeFailure = { readonly text: string }

/** It did not reach the service, or its connection was lost. */
export function lostBy(end: Exclude<HttpEnd, { kind: 'head' }>): BridgeFailure {
  if (end.kind === 'refused') return { text: `${SERVICE} cannot be used: ${end.detail}.` }
  if (end.reached) return CUT
  return { text: `${SERVICE} does not answer. This call was not sent.` }
}

/** The answer did not come, or not as a whole. */
export const CUT: BridgeFailure = {
  text:
    'The connection to the Haversack service was lost during this call, which may have happened. ' +
    'The next call connects again.',
}

/** The service knows no session of this client, and opened no other one. */
export const NO_SESSION: BridgeFailure = {
  text: `${SERVICE} has ended this session and opens no other one. This call was not made.`,
}

/** The service answered with something that is no message, for example a problem document. */
export function refusedBy({ statusCode = 0 }: IncomingMessage, text: string): BridgeFailure {
  const detail = detailOf(text)
  return { text: `${SERVICE} answered ${statusCode}${detail === '' ? '' : `: ${detail}`}.` }
}

/** What the client reads: an error of the tool for a call, since models see these. */
export function failureOutcome(
  method: string,
  { text }: BridgeFailure,
  isModern: boolean,
): Outcome {
  if (method !== 'tools/call') return errorOutcome(RPC_ERRORS.internal, text)
  const result = { content: [{ type: 'text', text }], isError: true }
  return {
    kind: 'result',
    result: jsonBytes(isModern ? { resultType: 'complete', ...result } : result),
  }
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    return typeof detail === 'string' ? detail : ''
  } catch {
    return ''
  }
}
