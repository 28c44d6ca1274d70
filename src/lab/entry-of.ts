/** The map's entry, which is made if there is none. */
export function entryOf<Key, Entry>(map: Map<Key, Entry>, key: Key, create: () => Entry): Entry {
  const known = map.get(key)
  if (known !== undefined) return known
  const entry = create()
  map.set(key, entry)
  return entry
}
