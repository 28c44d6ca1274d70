import { count } from '../../index.ts'
import type { DefinedTool } from '../../lab/audit/defined-tool.ts'
import { type RepeatedSentence, repeatedSentences } from '../../lab/audit/sentences.ts'
import type { ToolUse } from '../../lab/audit/tool-use.ts'

/** One tool; its tokens are those of what a model is given of its definition. */
export interface AuditedTool {
  readonly server: string | null
  readonly tool: string
  readonly tokens: number
  /** Tokens of the tool's own description, and of those of its parameters. */
  readonly description_tokens: number
  readonly parameter_tokens: number
  /** In the logs; absent without logs. */
  readonly calls?: number
  readonly unused_parameters?: readonly string[]
}

export interface AuditReport {
  readonly tokenizer: string
  readonly exact: boolean
  readonly tokens: number
  readonly tools: readonly AuditedTool[]
  /** Tokens of a sentence each time after its first. */
  readonly repeated: readonly (RepeatedSentence & { readonly tokens: number })[]
}

export interface AuditOptions {
  /** `null` without logs. */
  readonly use: ToolUse | null
  readonly tokens: { readonly tokenizer?: string; readonly model?: string }
}

/** What definitions cost, the most expensive first. */
export function auditReport(
  tools: readonly DefinedTool[],
  { use, tokens: tokenizer }: AuditOptions,
): AuditReport {
  const answer = count({ contents: [''], ...tokenizer })
  const tokensOf = (text: string) => count({ contents: [text], ...tokenizer }).counts?.[0] ?? 0
  const audited = tools.map((tool): AuditedTool => {
    const texts = tool.parameters.map(({ description }) => description).join('\n')
    return {
      server: tool.server,
      tool: tool.tool,
      tokens: tokensOf(tool.sent),
      description_tokens: tokensOf(tool.description),
      parameter_tokens: tokensOf(texts),
      ...(use === null ? {} : { calls: use.calls(tool.tool) }),
      ...(use === null ? {} : { unused_parameters: use.unusedParameters(tool) }),
    }
  })
  const repeated = repeatedSentences(tools).map(each => {
    return { ...each, tokens: (each.times - 1) * tokensOf(each.sentence) }
  })
  return {
    tokenizer: answer.tokenizer,
    exact: answer.exact,
    tokens: audited.reduce((sum, { tokens }) => sum + tokens, 0),
    tools: audited.sort((a, b) => b.tokens - a.tokens),
    repeated: repeated.sort((a, b) => b.tokens - a.tokens),
  }
}
