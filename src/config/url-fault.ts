/** What is wrong with the URL of a service; `null` if it is one of http or https. */
export function urlFault(text: string): string | null {
  const protocol = URL.parse(text)?.protocol
  if (protocol === 'http:' || protocol === 'https:') return null
  const isWithoutScheme = !text.includes('://') && URL.canParse(`https://${text}`)
  return isWithoutScheme ? 'has no scheme: add https:// (or http://)' : 'is no http or https URL'
}

/** The same for the base URL of an upstream, of which nothing but host and path is sent. */
export function upstreamFault(text: string): string | null {
  const { username = '', password = '', search = '', hash = '' } = URL.parse(text) ?? {}
  const isBare = username + password + search + hash === ''
  return urlFault(text) ?? (isBare ? null : 'must have no credentials, query or fragment')
}
