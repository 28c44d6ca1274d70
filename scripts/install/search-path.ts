import { basename, delimiter, resolve } from 'node:path'
import type { Env } from './choose-node.ts'

/** Whether a shell finds the programs of a folder. */
export function isOnPath(folder: string, env: Env): boolean {
  return (env['PATH'] ?? '').split(delimiter).some(each => each !== '' && resolve(each) === folder)
}

/** A line that puts a folder on the PATH of the user's shell for good. */
export function adviceForPath(folder: string, env: Env, platform = process.platform): string {
  const home = env['HOME'] ?? ''
  const isInHome = home !== '' && folder.startsWith(`${home}/`)
  if (platform === 'win32') {
    const path = "[Environment]::GetEnvironmentVariable('Path', 'User')"
    return `[Environment]::SetEnvironmentVariable('Path', ${path} + ';${folder}', 'User')`
  }
  const shown = isInHome ? `$HOME${folder.slice(home.length)}` : folder
  const line = `export PATH="${shown}:$PATH"`
  switch (basename(env['SHELL'] ?? '')) {
    case 'fish':
      return `fish_add_path "${shown}"`
    case 'zsh':
      return `echo '${line}' >> ~/.zshrc`
    case 'bash':
      // Terminals of macOS start login shells.
      return `echo '${line}' >> ~/${platform === 'darwin' ? '.bash_profile' : '.bashrc'}`
    default:
      return line
  }
}
