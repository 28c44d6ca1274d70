import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

/** Our header, and the one that gateways send. */
const BYPASS_HEADERS = ['x-haversack-bypass', 'x-headroom-bypass'] as const

/** Whether the client asks to leave everything of this request unchanged. */
export function isBypassed(c: AppContext): boolean {
  return BYPASS_HEADERS.some(name => requestHeader(c, name)?.trim().toLowerCase() === 'true')
}
