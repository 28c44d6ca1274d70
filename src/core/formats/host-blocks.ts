/**
 * What a host itself says in a tool's result, between tags on lines of their own. It is not the
 * tool's, so it stays as it is, unless the configuration names it.
 */
const HOST_BLOCKS = ['system-reminder'] as const
/** Blocks of one text that are found; further ones count as content. */
const MAX_BLOCKS = 100

/** A block by its lines, counted from 0; `end` is exclusive. */
export interface HostBlock {
  readonly name: string
  readonly from: number
  readonly end: number
  readonly text: string
}

/** The blocks of a text in their order. A block without its closing tag is content. */
export function hostBlocks(text: string): readonly HostBlock[] {
  const found: HostBlock[] = []
  for (const name of HOST_BLOCKS) {
    const [open, close] = [`<${name}>`, `</${name}>`]
    let line = 0
    let counted = 0
    for (let at = text.indexOf(open); at !== -1 && found.length < MAX_BLOCKS; ) {
      const last = text.indexOf(close, at)
      if (last === -1) break
      const isAtStart = at === 0 || text[at - 1] === '\n'
      const stop = last + close.length
      const isAtEnd = stop === text.length || text[stop] === '\n' || text[stop] === '\r'
      if (isAtStart && isAtEnd) {
        line += feedsIn(text, counted, at)
        const from = line
        line += feedsIn(text, at, stop)
        counted = stop
        found.push({ name, from, end: line + 1, text: text.slice(at, stop) })
      }
      at = text.indexOf(open, isAtStart && isAtEnd ? stop : at + open.length)
    }
  }
  return found
}

function feedsIn(text: string, start: number, end: number): number {
  let feeds = 0
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) {
    feeds++
  }
  return feeds
}
