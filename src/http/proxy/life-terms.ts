import type { RequestTerms } from '../../core/contract/request-terms.ts'
import type { Vendor } from '../../proxy/vendor-errors.ts'
import type { Savings } from '../../savings/savings.ts'
import { type AppContext, requestHeader } from '../context.ts'

/** Tokens of a subscription at Anthropic. */
const SUBSCRIPTION = 'sk-ant-oat'
const BEARER = /^bearer\s+/i

/**
 * Whether the credentials of a request are a key that pays for each token. A subscription's login
 * is none, and neither is what is not known.
 * @param header by its name in lower case
 */
export function paysByToken(
  vendor: Vendor,
  header: (name: 'x-api-key' | 'authorization' | 'anthropic-beta') => string | undefined,
): boolean {
  const keys = [header('x-api-key'), header('authorization')?.replace(BEARER, '')]
  const given = keys.filter(key => key !== undefined && key !== '')
  if (given.length === 0 || given.some(key => key!.startsWith(SUBSCRIPTION))) return false
  if (header('anthropic-beta')?.includes('oauth') === true) return false
  // A login with ChatGPT is a web token.
  return vendor !== 'openai' || given.every(key => key!.startsWith('sk-'))
}

/** What may be bought for a request's cache: nothing for a subscription. */
export function lifeTerms(
  c: AppContext,
  vendor: Vendor,
  { advice }: Pick<Savings, 'advice'>,
): Pick<RequestTerms, 'paysByToken' | 'hourKinds'> {
  if (!paysByToken(vendor, name => requestHeader(c, name))) return {}
  const { tenant, keyId } = c.get('state').caller
  const known = vendor === 'anthropic' ? advice(tenant, keyId) : undefined
  const isOn = known !== undefined && !known.isLoss
  return { paysByToken: true, ...(isOn && { hourKinds: known.hourKinds }) }
}
