import type { MarkerBill } from '../guard/plays.ts'

/** Which markers of a class are sent. */
export type ElisionLimit =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  /** Those that save so many tokens. */
  | { readonly kind: 'saved'; readonly least: number }
  /** Those that leave at most such a share of the text. */
  | { readonly kind: 'ratio'; readonly most: number }

type Kind = ElisionLimit['kind']

/** A limit that fewer markers pass is no evidence. */
const LEAST_MARKERS = 20
/** The simplest first: of two that save as much, it is taken. */
const KINDS: readonly Kind[] = ['all', 'none', 'saved', 'ratio']
/** Parts of the conversations, each of which judges what the others chose. */
const FOLDS = 5
/** Shares are written with so many places. */
const PLACES = 1_000

/**
 * The limit by which markers of a class save most. A limit with a bound always looks best on the
 * markers that its bound was chosen by. So the kind of limit is chosen by cross-validation over
 * conversations (Stone, 1974): four fifths set the bound, the last fifth pays. Then all of them set
 * the bound.
 */
export function chooseLimit(markers: readonly MarkerBill[]): ElisionLimit {
  const folds = foldsOf(markers)
  let best = { kind: 'all' as Kind, net: Number.NEGATIVE_INFINITY }
  for (const kind of KINDS) {
    let net = 0
    for (const fold of folds) {
      const limit = limitOf(
        kind,
        markers.filter(each => !fold.has(each)),
      )
      for (const each of fold) if (passes(limit, each)) net += netOf(each)
    }
    if (net > best.net) best = { kind, net }
  }
  return limitOf(best.kind, markers)
}

/** Whether the marker is sent. */
export function passes(limit: ElisionLimit, marker: Pick<MarkerBill, 'saved' | 'left'>): boolean {
  if (limit.kind === 'saved') return marker.saved >= limit.least
  if (limit.kind === 'ratio') return shareLeft(marker) <= limit.most
  return limit.kind === 'all'
}

/** The share of a text's tokens that is left. */
function shareLeft({ saved, left }: Pick<MarkerBill, 'saved' | 'left'>): number {
  return left / (left + saved)
}

/** The markers of a conversation are in one part. */
function foldsOf(markers: readonly MarkerBill[]): readonly ReadonlySet<MarkerBill>[] {
  const folds = Array.from({ length: FOLDS }, () => new Set<MarkerBill>())
  const numbers = new Map<string, number>()
  for (const marker of markers) {
    const { conversation } = marker
    const number = numbers.get(conversation) ?? numbers.size
    numbers.set(conversation, number)
    folds[number % FOLDS]!.add(marker)
  }
  return folds
}

/** The limit of a kind by which these markers save most; none, if none of its bounds pays. */
function limitOf(kind: Kind, markers: readonly MarkerBill[]): ElisionLimit {
  if (kind === 'all' || kind === 'none') return { kind }
  if (kind === 'saved') {
    const least = bestBound(markers, ({ saved }) => -saved)
    return least === null ? { kind: 'none' } : { kind, least: -least }
  }
  const most = bestBound(markers, each => Math.ceil(shareLeft(each) * PLACES) / PLACES)
  return most === null ? { kind: 'none' } : { kind, most }
}

/** The measure up to which markers save most; `null` if no bound pays. */
function bestBound(
  markers: readonly MarkerBill[],
  measure: (marker: MarkerBill) => number,
): number | null {
  const sorted = markers
    .map(each => ({ at: measure(each), net: netOf(each) }))
    .sort((a, b) => a.at - b.at)
  let net = 0
  let best: { readonly at: number; readonly net: number } | null = null
  for (const [index, each] of sorted.entries()) {
    net += each.net
    const isBound = sorted[index + 1]?.at !== each.at
    if (isBound && index + 1 >= LEAST_MARKERS && net > (best?.net ?? 0)) best = { at: each.at, net }
  }
  return best?.at ?? null
}

function netOf({ value, fetching }: MarkerBill): number {
  return value - fetching
}
