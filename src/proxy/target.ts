/** What may stand in a request target: no space, no control character, nothing that ends a line. */
const ORIGIN_FORM = /^\/[\x21-\x7e\x80-\xff]*$/

/**
 * The rest of a request target behind the prefix of a proxy route, its bytes as they were sent:
 * `/anthropic/v1/messages?beta=true` behind `/anthropic` is `/v1/messages?beta=true`, the prefix alone is `/`.
 * `null` for what is not behind the prefix, or no path at all: absolute-form (`http://host/…`), `*`.
 */
export function pathBehind(target: string, prefix: string): string | null {
  if (!target.startsWith(prefix)) return null
  const rest = target.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : null
}

/**
 * The request target at the upstream: `path` behind the path of the configured `base`, byte for byte. `null` for
 * what must not be forwarded: a target that is no path (RFC 9112 §3.2.1), and dot segments where `base` has a
 * path, since they would lead out of it.
 */
export function upstreamPath(base: URL, path: string): string | null {
  if (!ORIGIN_FORM.test(path)) return null
  const prefix = base.pathname.replace(/\/$/, '')
  return prefix !== '' && climbs(path) ? null : prefix + path
}

/** Whether a segment means "up", in whichever way a server might read it. */
function climbs(path: string): boolean {
  const [plain = ''] = path.split('?', 1)
  return plain
    .replace(/%2e/gi, '.')
    .split(/[/\\]|%2f|%5c/i)
    .some(segment => segment === '..' || segment.startsWith('..;'))
}
