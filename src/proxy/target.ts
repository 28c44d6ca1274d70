import type { Dialect } from '../core/dialects/dialect.ts'

/**
 * Characters that a request target may have: no space, no control character, nothing that ends a
 * line, and no fragment, which a client keeps for itself (RFC 9110 §7.1).
 */
const ORIGIN_FORM = /^\/[\x21\x22\x24-\x7e\x80-\xff]*$/

/**
 * The rest of a request target after the prefix of a proxy route, its bytes as they were sent:
 * `/anthropic/v1/messages?beta=true` after `/anthropic` is `/v1/messages?beta=true`, the prefix
 * alone is `/`. `null` if it is not after the prefix, or no path at all: absolute-form
 * (`http://host/…`), `*`.
 */
export function pathAfter(target: string, prefix: string): string | null {
  if (!target.startsWith(prefix)) return null
  const rest = target.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : null
}

/** The version in paths of a vendor's API. */
const VERSION = '/v1'
const ENDS_WITH_VERSION = /\/v\d\w*$/

/** An upstream as far as it decides how paths are named. */
export interface PathNaming {
  readonly dialect: Dialect
  /** The path of its base URL, without a slash at the end. */
  readonly basePath: string
  /** Whether the upstream gets paths without a version unchanged, if it may know them. */
  readonly pathsAsSent: boolean
}

/**
 * The path of a request as its vendor names it after the base URL. Some clients have the version in
 * their base URLs (`@ai-sdk/anthropic` sends `/messages`), some do not (Anthropic's SDK sends
 * `/v1/messages`), and both kinds of base URLs are configured. So a version is added if neither has
 * one, and one is removed if both have one. Some upstreams with a path, such as
 * `/backend-api/codex`, know paths without a version. Dialects that are not the vendor's own keep
 * paths unchanged.
 */
export function versionedPath(
  { dialect: { own }, basePath, pathsAsSent }: PathNaming,
  path: string,
): string {
  if (own === undefined) return path
  const once = path.replace(/^(?:\/v1)+(?=\/v1\/)/, '')
  if (ENDS_WITH_VERSION.test(basePath)) return once.replace(/^\/v1(?=\/)/, '')
  if (!own.unversioned.test(once)) return once
  const isComplete = own.hasUnversionedUpstreams === true && (pathsAsSent || basePath !== '')
  return isComplete ? once : VERSION + once
}

/**
 * The request target at the upstream: `path` after the path of the configured `base`, byte for
 * byte. Returns `null` for a target that must not be forwarded: one that is not a path (RFC 9112
 * §3.2.1), or has dot segments that would lead out of the path of `base`.
 */
export function upstreamPath(base: URL, path: string): string | null {
  if (!ORIGIN_FORM.test(path)) return null
  const prefix = base.pathname.replace(/\/$/, '')
  return prefix !== '' && climbs(path) ? null : prefix + path
}

/** How often a path is decoded; no legal one is encoded more often. */
const MAX_DECODINGS = 8

/**
 * First bytes of overlong forms of two to six bytes: those whose seventh bit is 0, and those whose
 * seventh bit is 1.
 */
const LEADS_OF_0 = [
  String.raw`\xc0`,
  String.raw`\xe0\x80`,
  String.raw`\xf0\x80\x80`,
  String.raw`\xf8\x80{3}`,
  String.raw`\xfc\x80{4}`,
]
const LEADS_OF_1 = [
  String.raw`\xc1`,
  String.raw`\xe0\x81`,
  String.raw`\xf0\x80\x81`,
  String.raw`\xf8\x80\x80\x81`,
  String.raw`\xfc\x80{3}\x81`,
]
/** Overlong forms of UTF-8, as lenient decoders read them: a lead, and six bits after it. */
const OVERLONG = new RegExp(`(${[...LEADS_OF_0, ...LEADS_OF_1].join('|')})(.)`, 'gs')

/** Spaces and control characters, which some servers remove or end a path at. */
const IGNORED = /[^\x21-\x7e\x80-\uffff]+/g

/**
 * Whether a segment means "up", in whichever way a server might read it: decoded once or more
 * often, strictly or not.
 */
function climbs(path: string): boolean {
  let [read = ''] = path.split('?', 1)
  if (!/[.%\x80-\xff]/.test(read)) return false
  for (let round = 0; ; round++) {
    if (hasDoubleDot(read)) return true
    const decoded = read.replace(/%(?:u00)?([0-9a-f]{2})/gi, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (decoded === read) return false
    if (round === MAX_DECODINGS) return true
    read = decoded
  }
}

function hasDoubleDot(bytes: string): boolean {
  const plain = bytes.replace(OVERLONG, shortForm)
  // Some servers fold full-width dots and slashes.
  const folded = Buffer.from(plain, 'latin1').toString().normalize('NFKC')
  return [plain, folded].some(text =>
    text
      .replace(IGNORED, '')
      .split(/[/\\]/)
      .some(segment => /^\.\.(?:[;?#]|$)/.test(segment)),
  )
}

/** The character of an overlong form, if it has a meaning in paths. */
function shortForm(form: string, lead: string, last: string): string {
  const seventhBit = (lead.charCodeAt(lead.length - 1) & 1) << 6
  const character = String.fromCharCode((last.charCodeAt(0) & 0x3f) | seventhBit)
  return './\\'.includes(character) ? character : form
}
