/**
 * The strongly connected components of two nodes or more, each sorted (Tarjan 1972).
 * @param graph nodes with the nodes that they lead to
 */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []

  function visit(node: string): void {
    const own = order.size
    order.set(node, own)
    lowest.set(node, own)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) {
        lowest.set(node, Math.min(lowest.get(node) ?? own, lowest.get(next) ?? own))
      }
    }
    if (lowest.get(node) !== own) return
    const circle = stack.splice(stack.indexOf(node))
    if (circle.length > 1) circles.push(circle.sort())
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return circles
}
