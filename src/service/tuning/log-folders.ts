import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where Claude Code and Codex keep their logs, by their own variables. */
export function logFolders(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const claude = env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude')
  const codex = env['CODEX_HOME'] || join(homedir(), '.codex')
  return [
    join(claude, 'projects'),
    join(homedir(), '.config', 'claude', 'projects'),
    join(codex, 'sessions'),
    join(codex, 'archived_sessions'),
  ]
}
