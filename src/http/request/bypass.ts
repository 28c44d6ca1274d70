import { type AppContext, requestHeader } from '../context.ts'

/** Our header, and the one that gateways send. */
const BYPASS_HEADERS = ['x-haversack-bypass', 'x-headroom-bypass'] as const

/** Whether everything of this request is to stay as it is. */
export function isBypassed(c: AppContext): boolean {
  return BYPASS_HEADERS.some(name => requestHeader(c, name)?.trim().toLowerCase() === 'true')
}
