import { hash } from 'node:crypto'

/** Items in the random order that a salt gives them; a new one takes a place between others. */
export function inDrawnOrder<Item>(
  items: readonly Item[],
  salt: string,
  nameOf: (item: Item) => string,
): readonly Item[] {
  return items
    .map(item => ({ item, place: hash('sha1', salt + nameOf(item), 'hex') }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ item }) => item)
}
