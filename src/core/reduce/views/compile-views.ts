import { foundByTool } from '../trim/resolve-strategy.ts'
import { compileName, PathMatcher } from './globs.ts'
import type { ViewLevel } from './level.ts'
import type { RuleData, ViewData } from './view-schema.ts'

/** A view whose names and globs are ready to be matched. */
export interface View {
  readonly name: string
  /** What makes a view precede others: 2 names a tool or class, 1 is of one kind, 0 generic. */
  readonly rank: number
  /** Names of fields without wildcards that must be there. */
  readonly names: number
  fitsPlace(place: ViewPlace): boolean
  fitsKeys(keys: ReadonlySet<string>): boolean
  rulesAt(level: ViewLevel): CompiledRules
}

/** What is known of a result besides its fields. */
export interface ViewPlace {
  readonly tool: string | undefined
  endpointClass(): string
  readonly shape: string
}

/** What a glob of a rule does. */
export interface RuleGlob {
  readonly does: 'drop' | 'keep' | 'in' | 'empty' | 'constant' | 'count' | 'items' | 'text'
  /** The index of its rule. */
  readonly rule: number
  /** The value that goes by `constant`. */
  readonly value?: string | number | boolean
}

/** The rules of one level, as one matcher. */
export interface CompiledRules {
  readonly rules: readonly RuleData[]
  readonly globs: readonly RuleGlob[]
  readonly matcher: PathMatcher
  /** Whether it has to be known which fields are empty in all items. */
  readonly needsEmpty: boolean
}

export function compileView({
  name,
  generic,
  tools,
  classes,
  shapes,
  has,
  standard,
  compact,
}: ViewData): View {
  const at = new Map<ViewLevel, CompiledRules>()
  const ofTools = anyOf(tools)
  const ofClasses = anyOf(classes)
  const ofShapes = anyOf(shapes)
  const plain = has.filter(key => !key.includes('*'))
  const wild = has.filter(key => key.includes('*')).map(compileName)
  return {
    name,
    rank: tools !== undefined || classes !== undefined ? 2 : generic ? 0 : 1,
    names: plain.length,
    fitsPlace: ({ tool, endpointClass, shape }) =>
      (tools === undefined || foundByTool(tool, each => ofTools(each) || undefined) === true) &&
      ofShapes(shape) &&
      (classes === undefined || ofClasses(endpointClass())),
    fitsKeys: keys =>
      plain.every(key => keys.has(key)) &&
      wild.every(test => {
        for (const key of keys) if (test(key)) return true
        return false
      }),
    rulesAt(level) {
      let rules = at.get(level)
      if (rules === undefined) {
        rules = compileRules(level === 'compact' ? [...standard, ...compact] : standard)
        at.set(level, rules)
      }
      return rules
    },
  }
}

/** Every name if there are no patterns. */
function anyOf(patterns: readonly string[] | undefined): (name: string) => boolean {
  if (patterns === undefined) return () => true
  const tests = patterns.map(compileName)
  return name => tests.some(test => test(name))
}

function compileRules(rules: readonly RuleData[]): CompiledRules {
  const globs: RuleGlob[] = []
  const texts: string[] = []
  const add = (does: RuleGlob['does'], rule: number, paths: readonly string[] = []): void => {
    for (const text of paths) {
      globs.push({ does, rule })
      texts.push(text)
    }
  }
  rules.forEach((each, rule) => {
    const { keep, in: within, constant = {} } = each
    add('drop', rule, each.drop)
    add('empty', rule, each.empty)
    add('count', rule, each.count)
    add('items', rule, each.items)
    add('text', rule, each.text)
    add('in', rule, within === undefined ? [] : [within])
    add(
      'keep',
      rule,
      keep?.map(path => (within === undefined ? path : `${within}.${path}`)),
    )
    for (const [text, value] of Object.entries(constant)) {
      globs.push({ does: 'constant', rule, value })
      texts.push(text)
    }
  })
  const needsEmpty = globs.some(({ does }) => does === 'empty')
  return { rules, globs, matcher: new PathMatcher(texts), needsEmpty }
}

/**
 * The view for a result: of those that fit one that names its tool or class, then one for a kind
 * of results, then a generic one; of equal ones the one with the most fields, or the first.
 * @param keysOf the names of its fields; asked for only if some view may fit
 */
export function pickView(
  views: readonly View[],
  place: ViewPlace,
  keysOf: () => ReadonlySet<string>,
): View | null {
  let best: View | null = null
  for (const view of views) {
    if (best !== null && !precedes(view, best)) continue
    if (view.fitsPlace(place) && view.fitsKeys(keysOf())) best = view
  }
  return best
}

function precedes(view: View, other: View): boolean {
  return view.rank === other.rank ? view.names > other.names : view.rank > other.rank
}
