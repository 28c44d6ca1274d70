/**
 * What is read of a JSON value: of an object the members with these keys, of an array its items.
 * Everything else is checked and passed over.
 */
export interface Selection {
  readonly keys: readonly SelectedKey[]
  readonly items: Selection | null
}

/** A member to read: `value` is what to read of it. */
export interface SelectedKey {
  readonly name: string
  /** The name in UTF-8. */
  readonly bytes: Uint8Array
  readonly value: Selection
}

/** Only where the value lies. */
export const RANGE: Selection = { keys: [], items: null }

/** Of an object the members named. */
export function members(named: Readonly<Record<string, Selection>>): Selection {
  const utf8 = new TextEncoder()
  const keys = Object.entries(named).map(([name, value]) => ({
    name,
    bytes: utf8.encode(name),
    value,
  }))
  return { keys, items: null }
}

/** Of an array this of every item. */
export function items(selection: Selection): Selection {
  return { keys: [], items: selection }
}
