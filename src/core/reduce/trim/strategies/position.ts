import type { Strategy } from './strategy.ts'

/** Least weight of the position, so that of equal parts the earlier one stays. */
const TIE = 0.001
/** Weight of the position if it decides between parts that are otherwise alike. */
const SLIGHT = 0.1
const CLEAR = 0.7

/** Shares of a log that are its head and its tail (SOURCES.md#trim, "Head+Tail"). */
const HEAD = 0.3
const TAIL = 1 - HEAD
/** The part of a comment's value that each later one leaves (SOURCES.md#trim, "Cascading"). */
const BETA = 0.95
/** The least factor, since powers of β end in 0. */
const LEAST = 1e-9

function falling(share: number): Strategy {
  return { factor: (index, count) => 1 - (share * index) / count }
}

/** All items have the same value. */
export const uniform: Strategy = falling(TIE)

/** All items have nearly the same value; of equal ones the earlier comes first. */
export const equal: Strategy = falling(SLIGHT)

/** The start matters most, as for results sorted by relevance. */
export const leading: Strategy = falling(CLEAR)

/** The end matters most. */
export const trailing: Strategy = {
  factor: (index, count) => 1 - (CLEAR * (count - 1 - index)) / count,
}

/** The first item has the value 1, the last one 0.3. */
export const elementCount: Strategy = {
  factor: (index, count) => 1 - (CLEAR * index) / Math.max(1, count - 1),
}

/** Newest last: β to the power of the number of comments after it. */
export const cascading: Strategy = {
  factor: (index, count) => Math.max(BETA ** (count - 1 - index), LEAST * (index + 1)),
}

/**
 * Both ends: of whatever is kept, 30 % is from the start and 70 % from the end. The value falls
 * from each end to the point at which these shares meet, so that the items above any threshold are
 * in this proportion.
 */
export const headTail: Strategy = { factor: inHeadAndTail }

function inHeadAndTail(index: number, count: number): number {
  const place = (index + 0.5) / count
  const inward = place < HEAD ? place / HEAD : (1 - place) / TAIL
  return 1 - CLEAR * inward - (TIE * index) / count
}

/**
 * The value of a change by the kind of its file, the first that fits (SOURCES.md#trim,
 * "Size-Proportional").
 */
const FILE_WEIGHTS: readonly { readonly weight: number; fits(path: string): boolean }[] = [
  {
    weight: 0.05,
    fits: path =>
      /(?:\.lock|\.sum|(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml))$/.test(path),
  },
  { weight: 0.1, fits: path => /\.min\.(?:js|css)$/.test(path) },
  { weight: 0.6, fits: path => /migration|schema/.test(path) },
  { weight: 0.7, fits: path => /test|spec/.test(path) },
]

/** Changes of files: in proportion to their length, less for files that no person reads. */
export const sizeProportional: Strategy = {
  bySize: true,
  factor: uniform.factor,
  weigh: items =>
    items.map(({ path }, index) => fileWeight(path) * uniform.factor(index, items.length)),
}

function fileWeight(path: string | undefined): number {
  if (path === undefined) return 1
  const lower = path.toLowerCase()
  return FILE_WEIGHTS.find(({ fits }) => fits(lower))?.weight ?? 1
}

/**
 * The value of a settled discussion compared with an open one (SOURCES.md#trim, "Thread-Level").
 */
const RESOLVED = 0.3
/** A comment between the first and the last one of its thread. */
const MIDDLE = 0.5

/**
 * Discussions: open ones before settled ones. The first and the last comment of each are always
 * kept with it.
 */
export const threadLevel: Strategy = {
  thread: { middle: MIDDLE },
  factor: uniform.factor,
  weigh: items =>
    items.map(
      ({ resolved }, index) =>
        (resolved === true ? RESOLVED : 1) * uniform.factor(index, items.length),
    ),
}
