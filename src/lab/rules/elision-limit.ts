import type { MarkerBill } from '../guard/plays.ts'

const PLACES = 1_000

/** How large a marker is by what bounds it: up to the bound it is sent. */
const MEASURES = {
  /** It saves so many tokens. */
  saved: ({ saved }: Size) => -saved,
  /** It leaves at most such a share of the text, written with three places. */
  ratio: ({ saved, left }: Size) => Math.ceil((left / (left + saved)) * PLACES) / PLACES,
}

type Size = Pick<MarkerBill, 'saved' | 'left'>
type Kind = 'all' | 'none' | keyof typeof MEASURES

/** Which markers of a class are sent: all, none, or those up to a bound. */
export type ElisionLimit =
  | { readonly kind: 'all' | 'none' }
  | { readonly kind: keyof typeof MEASURES; readonly bound: number }

/** A limit that fewer markers pass is no evidence. */
const LEAST_MARKERS = 20
/** The simplest first: of two that save as much, it is taken. */
const KINDS: readonly Kind[] = ['all', 'none', 'saved', 'ratio']
/** Parts of the conversations, each of which judges what the others chose. */
const FOLDS = 5

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
export function passes(limit: ElisionLimit, marker: Size): boolean {
  return 'bound' in limit ? MEASURES[limit.kind](marker) <= limit.bound : limit.kind === 'all'
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
  const sorted = markers
    .map(each => ({ at: MEASURES[kind](each), net: netOf(each) }))
    .sort((a, b) => a.at - b.at)
  let net = 0
  let best: { readonly bound: number; readonly net: number } | null = null
  for (const [index, { at: bound, net: own }] of sorted.entries()) {
    net += own
    const isBound = sorted[index + 1]?.at !== bound
    if (isBound && index + 1 >= LEAST_MARKERS && net > (best?.net ?? 0)) best = { bound, net }
  }
  return best === null ? { kind: 'none' } : { kind, bound: best.bound }
}

function netOf({ value, fetching }: MarkerBill): number {
  return value - fetching
}
