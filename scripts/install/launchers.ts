import { join } from 'node:path'
import { LAUNCHER_MARK } from '../../src/runtime/installation.ts'
import type { ChosenNode } from './choose-node.ts'

/** Starts the current version, in any environment. */
export function shellLauncher(folder: string): string {
  const current = `'${join(folder, 'current').replaceAll("'", "'\\''")}'`
  return `#!/bin/sh
# ${LAUNCHER_MARK}. haversack uninstall removes it.
current=${current}
if [ ! -x "$current/node" ]; then
  echo "haversack: $current/node is gone: run npm run install:user again" >&2
  exit 127
fi
exec "$current/node" "$current/dist/src/cli.js" "$@"
`
}

/** Links need rights on Windows, so this one names the version. */
export function windowsLauncher(target: string, node: ChosenNode): string {
  const program = node.isCopied ? join(target, 'node.exe') : node.path
  const [ours, cli] = [program, join(target, 'dist', 'src', 'cli.js')].map(path =>
    path.replaceAll('%', '%%'),
  )
  return `@rem ${LAUNCHER_MARK}. haversack uninstall removes it.\r\n@"${ours}" "${cli}" %*\r\n`
}
