import { join } from 'node:path'
import { homeFolder } from '../../config/user-folders.ts'

/** Where Claude Code and Codex keep their logs, by their own variables. */
export function logFolders(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const home = homeFolder()
  const inHome = (...path: readonly string[]) => (home === null ? [] : [join(home, ...path)])
  const claude = env['CLAUDE_CONFIG_DIR'] ? [env['CLAUDE_CONFIG_DIR']] : inHome('.claude')
  const codex = env['CODEX_HOME'] ? [env['CODEX_HOME']] : inHome('.codex')
  return [
    ...claude.map(each => join(each, 'projects')),
    ...inHome('.config', 'claude', 'projects'),
    ...codex.flatMap(each => [join(each, 'sessions'), join(each, 'archived_sessions')]),
  ]
}
