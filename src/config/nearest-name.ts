import { distance } from 'fastest-levenshtein'

/** Longer names are not compared to their end; comparing takes the product of both lengths. */
const MAX_CHARS = 100

/** Most single-character edits between a name and the one that was meant. */
function mostEdits({ length }: string): number {
  return length < 4 ? 1 : Math.max(2, Math.floor(length / 3))
}

/**
 * `; did you mean X?` for a name that is not known, with the known name that is nearest to it;
 * empty if none is near.
 * @param prefix comes before the name in the text
 */
export function didYouMean(name: string, known: Iterable<string>, prefix = ''): string {
  let nearest = ''
  const given = name.slice(0, MAX_CHARS)
  let least = mostEdits(given) + 1
  for (const each of known) {
    const edits = distance(given, each)
    if (edits < least) [nearest, least] = [each, edits]
  }
  return nearest === '' ? '' : `; did you mean ${prefix}${nearest}?`
}
