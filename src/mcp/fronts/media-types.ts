/** Whether a `Content-Type` says JSON. */
export function isJson(contentType: string | null): boolean {
  return /^\s*application\/json\s*(?:;|$)/i.test(contentType ?? '')
}

/**
 * Whether an `Accept` allows a media type; a missing one allows all.
 * @param type in lower case
 */
export function accepts(accept: string | null, type: string): boolean {
  if (accept === null) return true
  const group = `${type.split('/')[0]}/*`
  return accept.split(',').some(range => {
    const [name = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    if (name !== type && name !== group && name !== '*/*') return false
    return !parameters.some(parameter => /^q=0(?:\.0{0,3})?$/.test(parameter))
  })
}
