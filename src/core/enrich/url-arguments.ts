import { ObjectValue, type Value } from '../json/value.ts'

/** Names of arguments that are addresses, whatever they hold. */
const ADDRESS_NAME = /ur[li]|href|link|host|domain|endpoint|address|website/i
/** Begins a URL, as lenient readers see it: `https:host` and `//host` too. */
const ADDRESS_START = /^\s*(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i

/**
 * The hosts of all addresses among the arguments, with their ports, as `URL.host` gives them;
 * `null` if one of them is no HTTP URL without credentials. A text counts as an address if its
 * argument is named like one, or if it begins like a URL or holds `://`.
 */
export function addressedHosts({ keys, values }: ObjectValue): readonly string[] | null {
  const hosts: string[] = []
  for (const [at, key] of keys.entries()) {
    const value = values[at]
    if (typeof value !== 'string' || !isAddress(key, value)) continue
    const url = URL.parse(value)
    if (url === null || !isWeb(url) || url.username !== '' || url.password !== '') return null
    hosts.push(url.host)
  }
  return hosts
}

/** The hosts of the URLs among a call's arguments, to be remembered as called. */
export function hostsOf(args: Value): readonly string[] {
  if (!(args instanceof ObjectValue)) return []
  return args.values.flatMap(value => {
    const url = typeof value === 'string' && value.length < MAX_URL ? URL.parse(value) : null
    return url !== null && isWeb(url) ? [url.host] : []
  })
}

const MAX_URL = 4_096

function isAddress(name: string, value: string): boolean {
  return ADDRESS_NAME.test(name) || ADDRESS_START.test(value) || value.includes('://')
}

function isWeb({ protocol, host }: URL): boolean {
  return (protocol === 'https:' || protocol === 'http:') && host !== ''
}
