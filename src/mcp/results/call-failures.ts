import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import type { CallFailure } from '../upstream/connection.ts'

/** What the model reads of a tool call that its server did not answer. */
export function failureResult(server: string, failure: CallFailure): Outcome {
  const content = [{ type: 'text', text: describe(server, failure) }]
  return { kind: 'result', result: jsonBytes({ content, isError: true }) }
}

/** The same for every other request. */
export function failureError(server: string, failure: CallFailure): Outcome {
  return errorOutcome(RPC_ERRORS.internal, describe(server, failure))
}

function describe(server: string, failure: CallFailure): string {
  const name = `The MCP server "${server}"`
  switch (failure.kind) {
    case 'lost':
      return failure.hasRun === 'no'
        ? `${name} ended before it got this call. It is being started again.`
        : `${name} ended during this call, which may have happened. It is being started again.`
    case 'down':
      return `${name} is not running. This call was not sent. It is being started again.`
    case 'full':
      return `${name} was not started: too many clients use it. This call was not sent.`
    case 'timeout':
      return `${name} did not answer in time. The call may have happened.`
    case 'aborted':
      return `The call to ${name} was cancelled.`
    case 'flooded':
      return `${name} sent too many messages of its own accord and was disconnected. The call may have happened.`
    case 'unauthorized':
      return [`${name} refuses the configured credentials.`, failure.advice ?? []].flat().join(' ')
    case 'malformed':
      return `${name} answered with something that is no MCP message: ${failure.detail}.`
  }
}
