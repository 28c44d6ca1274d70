import { uniform } from './position.ts'
import type { Strategy } from './strategy.ts'

/**
 * The value of a change by the kind of its file, the first that fits (seed 003,
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
