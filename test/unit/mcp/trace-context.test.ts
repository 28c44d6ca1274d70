import { expect, it } from 'vitest'
import { traceOf, withTrace } from '../../../src/mcp/client/tool-calls.ts'

const OURS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const THEIRS = '00-11111111111111111111111111111111-2222222222222222-00'

it.each([
  ['{"name":"x","n":1.0}', `{"name":"x","n":1.0,"_meta":{"traceparent":"${OURS}"}}`],
  ['{"_meta":{"a":1.0},"n":2}', `{"_meta":{"a":1.0,"traceparent":"${OURS}"},"n":2}`],
  [`{"_meta":{"traceparent":"${THEIRS}"}}`, `{"_meta":{"traceparent":"${THEIRS}"}}`],
  ['{"_meta":7,"_meta":8}', '{"_meta":7,"_meta":8}'],
])('%s gets the trace of its HTTP request unless it has one', (params, traced) => {
  expect(withTrace(Buffer.from(params), OURS).toString()).toBe(traced)
})

it.each([null, undefined, '', 'x', `${OURS}"`])('%s is no trace to go on with', header => {
  const params = Buffer.from('{}')
  expect(withTrace(params, header)).toBe(params)
})

it('is found in the parameters of a request', () => {
  expect(traceOf(Buffer.from(`{"_meta":{"traceparent":"${THEIRS}"}}`))).toBe(THEIRS)
  expect(traceOf(Buffer.from('{"_meta":{"traceparent":7}}'))).toBeNull()
  expect(traceOf(Buffer.from('{}'))).toBeNull()
})
