/** A fault of a value, and the path of its key. */
export interface Fault {
  readonly path: readonly PropertyKey[]
  readonly text: string
}
