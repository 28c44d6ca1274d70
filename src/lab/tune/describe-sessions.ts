import { percent } from '../../console/table.ts'
import type { Stats } from '../rules/class-stats.ts'

/** Models and endpoint classes that are named. */
const MOST_MODELS = 8
const MOST_SERVER_CLASSES = 10
const SERVER_CLASS = /^mcp__/
/** A model's name is the log's own text. */
const PLAIN = /^[\w.:@/-]{1,80}$/

/** What logs are of: conversations, models, servers. Lines for a person. */
export function describeSessions({ sessions, classes }: Stats): string {
  const { conversations, results, reads, compactions, models } = sessions
  const lines = [
    `${conversations} conversations, ${results} results (${percent(reads, results)} reads), ` +
      `${compactions} compactions`,
  ]
  const byCount = [...models].sort(([, a], [, b]) => b - a)
  const named = byCount.slice(0, MOST_MODELS).map(([model, count]) => {
    return `${PLAIN.test(model) ? model : '(a name)'} ${percent(count, results)}`
  })
  if (named.length > 0) lines.push(`models: ${named.join(', ')}`)
  const ofServers = [...classes.values()]
    .filter(({ name }) => SERVER_CLASS.test(name))
    .sort((a, b) => b.results - a.results)
    .slice(0, MOST_SERVER_CLASSES)
    .map(({ name, results: own }) => `${name} ${own}`)
  if (ofServers.length > 0) lines.push(`MCP: ${ofServers.join(', ')}`)
  return lines.map(line => `# ${line}\n`).join('')
}
