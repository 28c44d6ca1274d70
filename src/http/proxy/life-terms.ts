import type { Savings } from '../../book/bill/savings.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import { VENDOR_NAMES, type VendorName, vendorNamed } from '../../core/dialects/lookup.ts'
import type { AppContext } from '../context.ts'
import { headerNamed } from '../request/request-header.ts'

const SUBSCRIPTIONS = VENDOR_NAMES.flatMap(name => vendorNamed(name).subscriptionPrefix ?? [])
const LOGIN_MARKS = VENDOR_NAMES.flatMap(name => {
  const { loginMark } = vendorNamed(name)
  return loginMark === undefined ? [] : [loginMark]
})
const BEARER = /^bearer\s+/i

/**
 * Whether the credentials of a request are a key that pays for each token. A subscription's login
 * is none, and neither is what is not known.
 * @param header by its name in lower case
 */
export function paysByToken(
  vendor: VendorName,
  header: (name: string) => string | undefined,
): boolean {
  const keys = [header('x-api-key'), header('authorization')?.replace(BEARER, '')]
  const given = keys.filter(key => key !== undefined && key !== '')
  if (given.length === 0 || given.some(isSubscription)) return false
  if (LOGIN_MARKS.some(([name, text]) => header(name)?.includes(text))) return false
  const { keyPrefix = '' } = vendorNamed(vendor)
  return given.every(key => key!.startsWith(keyPrefix))
}

function isSubscription(key = ''): boolean {
  return SUBSCRIPTIONS.some(prefix => key.startsWith(prefix))
}

/** What may be bought for a request's cache: nothing for a subscription. */
export function lifeTerms(
  c: AppContext,
  vendor: VendorName,
  { advice }: Pick<Savings, 'advice'>,
): Pick<RequestTerms, 'paysByToken' | 'hourKinds'> {
  if (!paysByToken(vendor, name => headerNamed(c, name))) return {}
  const { tenant, keyId } = c.get('state').caller
  const known = vendorNamed(vendor).sellsLives ? advice(tenant, keyId) : undefined
  const isOn = known !== undefined && !known.isLoss
  return { paysByToken: true, ...(isOn && { hourKinds: known.hourKinds }) }
}
