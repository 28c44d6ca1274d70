import type { StrategyId } from '../budget/strategies.ts'

/**
 * Strategies by the names that tools of code hosts and issue trackers have (SOURCES.md#trim,
 * "Trimming Strategies").
 */
const BUILT_IN: ReadonlyMap<string, StrategyId> = new Map([
  ['get_issues', 'priority'],
  ['get_merge_requests', 'priority'],
  ['get_pull_requests', 'priority'],
  ['get_issue_comments', 'cascading'],
  ['get_merge_request_diffs', 'size_proportional'],
  ['get_pull_request_diffs', 'size_proportional'],
  ['get_merge_request_discussions', 'thread_level'],
  ['get_pull_request_discussions', 'thread_level'],
  ['get_job_logs', 'head_tail'],
  ['get_pipeline', 'default'],
  ['get_users', 'default'],
  ['get_statuses', 'default'],
])

/** Ends the prefix that proxies and agents put before the names of servers' tools. */
const PREFIX_END = '__'

/**
 * The strategy that is built in for a tool's results, by its name or by that without what a proxy
 * puts in front of it.
 * @returns `undefined` if there is none for it
 */
export function strategyFor(tool: string | undefined): StrategyId | undefined {
  return foundByTool(tool, name => BUILT_IN.get(name))
}

/**
 * What is found for a tool's name, else for the name without the part before the first `__`, again
 * and again (`mcp__cloud__get_issues`).
 * @returns `undefined` if there is nothing for it
 */
export function foundByTool<T>(
  tool: string | undefined,
  find: (name: string) => T | undefined,
): T | undefined {
  let name = tool
  while (name !== undefined) {
    const found = find(name)
    if (found !== undefined) return found
    const at = name.indexOf(PREFIX_END)
    name = at === -1 ? undefined : name.slice(at + PREFIX_END.length)
  }
  return undefined
}
