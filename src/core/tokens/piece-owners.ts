/** Which place holds what of whom, where there are fewer places than owners. */
export interface PieceOwners {
  /** The owner's place, from 0, and whether it held something of another owner, or nothing. */
  place(owner: string): { readonly index: number; readonly isNew: boolean }
}

/** @param places the owner that was not served for longest gives up its place */
export function createPieceOwners(places: number): PieceOwners {
  /** In the order of use. */
  const indexOf = new Map<string, number>()

  /** A place that is free, or becomes free. */
  function vacate(): number {
    if (indexOf.size < places) return indexOf.size
    const [oldest, index] = indexOf.entries().next().value!
    indexOf.delete(oldest)
    return index
  }

  return {
    place(owner) {
      const known = indexOf.get(owner)
      if (known !== undefined) indexOf.delete(owner)
      const index = known ?? vacate()
      indexOf.set(owner, index)
      return { index, isNew: known === undefined }
    },
  }
}
