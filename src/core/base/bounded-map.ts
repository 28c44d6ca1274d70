/** A map of the entries that were set last. To set an entry makes it the newest one. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number

  /** @param most entries; beyond it the one that was set longest ago is forgotten */
  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#most) this.delete(this.keys().next().value as Key)
    return this
  }
}
