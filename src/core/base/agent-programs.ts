/** Programs of agents that are known by name. */
interface AgentProgram {
  readonly name: string
  /** How their user agents begin. */
  readonly userAgent: RegExp
  /** Whether `haversack run` knows how to start them. */
  readonly isRun?: true
}

export const AGENT_PROGRAMS: readonly AgentProgram[] = [
  { name: 'claude', userAgent: /^claude-(?:cli|code)\b/i, isRun: true },
  { name: 'codex', userAgent: /^codex/i, isRun: true },
  { name: 'opencode', userAgent: /^opencode\b/i, isRun: true },
  { name: 'gemini', userAgent: /^gemini-?cli\b/i, isRun: true },
  { name: 'qwen', userAgent: /^qwen-?code\b/i, isRun: true },
  { name: 'aider', userAgent: /^aider\b/i, isRun: true },
  { name: 'copilot', userAgent: /^(?:github-?copilot|copilot)/i },
  { name: 'cursor', userAgent: /^cursor\b/i },
  { name: 'goose', userAgent: /^goose\b/i },
  { name: 'crush', userAgent: /^(?:charm-)?crush\b/i },
]
