import { parser } from '@prometheus-io/lezer-promql'

/** A node of the parsed query. */
type Node = ReturnType<typeof parser.parse>['topNode']

/**
 * What Prometheus stores of one metric: the labels of its series, and whether it only ever grows.
 */
export interface Series {
  readonly labels: ReadonlySet<string>
  readonly grows: boolean
}

/** Every name that a query may use, with the `_bucket`, `_sum` and `_count` of histograms. */
export type Catalogue = ReadonlyMap<string, Series>

/** The functions that make sense of counters only, and those of gauges that are used here. */
const OF_COUNTERS = new Set(['rate', 'increase', 'irate'])

/**
 * What is wrong with a query, a line each: syntax, by Prometheus' own grammar; metrics and labels
 * that nobody serves; `rate` of a gauge, or what is for gauges of a counter; quantiles of series
 * without `le`.
 */
export function faultsOfQuery(query: string, catalogue: Catalogue): string[] {
  const top = parser.parse(query).topNode
  const faults: string[] = []
  const text = (node: Node) => query.slice(node.from, node.to)
  for (const node of descendants(top)) {
    if (node.type.isError) faults.push(`syntax at character ${node.from}: ${query}`)
    if (node.name === 'VectorSelector') faults.push(...faultsOfSelector(node))
    if (node.name === 'GroupingLabels') faults.push(...faultsOfGrouping(node))
    if (node.name === 'FunctionCall') faults.push(...faultsOfCall(node))
  }
  return faults

  function faultsOfSelector(node: Node): string[] {
    const name = nameOf(node, text)
    const series = catalogue.get(name)
    if (series === undefined) return [`no metric ${name}`]
    const matched = descendants(node).filter(each => each.name === 'LabelName')
    return matched.flatMap(label =>
      series.labels.has(text(label)) ? [] : [`${name} has no label ${text(label)}`],
    )
  }

  function faultsOfGrouping(node: Node): string[] {
    // The series of the aggregation, or of both sides of an operator with `on`.
    const scope = node.parent?.parent ?? top
    const known = labelsBelow(scope, text, catalogue)
    const names = descendants(node).filter(each => each.name === 'LabelName')
    return names.flatMap(label =>
      known.has(text(label)) ? [] : [`no label ${text(label)} to group by`],
    )
  }

  function faultsOfCall(node: Node): string[] {
    const name = text(node.firstChild ?? node)
    if (name === 'histogram_quantile') {
      return resultLabels(node.lastChild ?? node, text, catalogue).has('le')
        ? []
        : ['a quantile without le']
    }
    return descendants(node)
      .filter(each => each.name === 'MatrixSelector' && each.parent?.parent?.from === node.from)
      .map(each => nameOf(each, text))
      .filter(
        metric => catalogue.has(metric) && catalogue.get(metric)?.grows !== OF_COUNTERS.has(name),
      )
      .map(
        metric =>
          `${name} of ${metric}, which ${OF_COUNTERS.has(name) ? 'may fall' : 'only grows'}`,
      )
  }
}

/** The labels that the result of a query has. */
export function labelsOfResult(query: string, catalogue: Catalogue): ReadonlySet<string> {
  const text = (node: Node) => query.slice(node.from, node.to)
  return resultLabels(parser.parse(query).topNode, text, catalogue)
}

type Text = (node: Node) => string

function resultLabels(node: Node, text: Text, catalogue: Catalogue): ReadonlySet<string> {
  if (node.name === 'VectorSelector') return catalogue.get(nameOf(node, text))?.labels ?? new Set()
  if (node.name === 'AggregateExpr') {
    const grouping = children(node).find(({ name }) => name === 'AggregateModifier')
    const labels = grouping === undefined ? [] : descendants(grouping)
    return new Set(labels.filter(({ name }) => name === 'LabelName').map(text))
  }
  // An operator's labels are those of its left side, and a function's those of what it is given.
  for (const child of children(node)) {
    const labels = resultLabels(child, text, catalogue)
    if (labels.size > 0) return labels
  }
  return new Set()
}

function labelsBelow(node: Node, text: Text, catalogue: Catalogue): ReadonlySet<string> {
  const selectors = descendants(node).filter(({ name }) => name === 'VectorSelector')
  return new Set(selectors.flatMap(each => [...(catalogue.get(nameOf(each, text))?.labels ?? [])]))
}

function nameOf(node: Node, text: Text): string {
  const identifier = descendants(node).find(({ name }) => name === 'Identifier')
  return identifier === undefined ? text(node) : text(identifier)
}

function children(node: Node): Node[] {
  const found: Node[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling) found.push(child)
  return found
}

function descendants(node: Node): Node[] {
  return children(node).flatMap(child => [child, ...descendants(child)])
}
