/** Items of a list that are missing in a row. */
export interface ItemRun {
  /** Where its list is: `$.orders`. */
  readonly list: string
  /** Indexes of the first item, and after the last. */
  readonly from: number
  readonly end: number
}

/** The rows of a table that are shown, and how many there are, at the end of the line before it. */
const HEAD = /^( *)((?:[\w-]+(?:\.[\w-]+)*)?)\[(\d{1,9}) of (\d{1,9})\]:$/
const KEY = /^( *)([\w-]+(?:\.[\w-]+)*):$/
const GAP = /^… ([1-9]\d{0,8}) not shown$/

/**
 * The items that the gaps of the tables in a text represent, by paths of the text's keys. Returns
 * `null` if the rows and gaps of a table are not as many as its head says.
 */
export function itemsMissingIn(lines: readonly string[]): readonly ItemRun[] | null {
  const found: ItemRun[] = []
  const keys: { readonly indent: number; readonly path: string }[] = []
  for (let at = 0; at < lines.length; at++) {
    const head = HEAD.exec(lines[at]!)
    const [, { length: indent } = '', key] = head ?? KEY.exec(lines[at]!) ?? []
    if (key === undefined) continue
    while ((keys.at(-1)?.indent ?? -1) >= indent) keys.pop()
    const path = `${keys.at(-1)?.path ?? '$'}${key === '' ? '' : `.${key}`}`
    keys.push({ indent, path })
    if (head === null) continue
    // The next line has the names of the columns, and each further one is a row or a gap.
    const runs = gapsOf(lines, at + 2, { shown: Number(head[3]), of: Number(head[4]) })
    if (runs === null) return null
    for (const run of runs.gaps) found.push({ list: path, ...run })
    at = runs.last
  }
  return found
}

function gapsOf(
  lines: readonly string[],
  start: number,
  { shown, of }: { readonly shown: number; readonly of: number },
) {
  const gaps: Pick<ItemRun, 'from' | 'end'>[] = []
  let rows = 0
  let next = 0
  let at = start
  for (; next < of && at < lines.length; at++) {
    const gap = GAP.exec(lines[at]!)?.[1]
    const end = next + Number(gap ?? 1)
    if (gap === undefined) rows++
    else gaps.push({ from: next, end })
    next = end
  }
  return next === of && rows === shown ? { gaps, last: at - 1 } : null
}
