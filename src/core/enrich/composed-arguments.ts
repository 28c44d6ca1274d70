/** Where the text of a parameter goes. */
const PLACE = /\{([A-Za-z_]\w*)\}/g

/** Names in braces anywhere in the arguments of one call. */
export function placesIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(PLACE)].map(([, name]) => name!)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(placesIn)
}

/** The arguments of one call, with the texts of the composed call in their places. */
export function fillArguments(value: unknown, given: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') {
    return value.replace(PLACE, (place, name: string) => given.get(name) ?? place)
  }
  if (Array.isArray(value)) return value.map(each => fillArguments(each, given))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, fillArguments(each, given)]),
  )
}
