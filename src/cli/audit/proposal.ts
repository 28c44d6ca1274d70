import { stringify } from 'smol-toml'
import type { AuditReport } from './report.ts'

const HEAD = `# Shorter texts for definitions of tools, proposed by haversack audit tools.
# Read each of them before you copy it. It is used only while the definition has this hash.
`

/** The shorter texts as they stand in a configuration. */
export function proposalToml({ tools }: Pick<AuditReport, 'tools'>): string {
  const tables = tools.flatMap(({ server, tool, hash, tokens, shorter }) => {
    if (shorter === undefined || server === null || hash === null) return []
    const { description, parameters, steps } = shorter
    const hasParameters = Object.keys(parameters).length > 0
    const text = { hash, description, ...(hasParameters ? { parameters: { ...parameters } } : {}) }
    const settings = { mcp: { servers: { [server]: { texts: { [tool]: text } } } } }
    const what = `# ${tokens} tokens, then ${shorter.tokens}: without ${steps.join(', without ')}`
    return [`\n${what}\n${stringify(settings)}`]
  })
  return HEAD + tables.join('')
}
