import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join, resolve, sep } from 'node:path'

const LEAST_NODE = 24

export type Env = Readonly<Record<string, string | undefined>>

/** The Node of an installation: the user's own, or a copy. */
export interface ChosenNode {
  readonly path: string
  readonly isCopied: boolean
}

export function nameOfNode(): string {
  return process.platform === 'win32' ? 'node.exe' : 'node'
}

/** The first `node` of the user's PATH if it is new enough, else this project's. */
export function chooseNode(root: string, env: Env): ChosenNode {
  const name = nameOfNode()
  // npm puts folders of the project first.
  const folders = (env['PATH'] ?? '').split(delimiter).filter(each => {
    return each !== '' && !each.split(sep).includes('node_modules')
  })
  const found = folders.map(each => resolve(each, name)).find(each => existsSync(each))
  const own = join(root, 'node_modules', 'node', 'bin', name)
  return (found === undefined ? null : usableNode(found)) ?? { path: own, isCopied: true }
}

function usableNode(path: string): ChosenNode | null {
  const script = 'console.log(process.versions.node + "\\n" + process.execPath)'
  const { status, stdout } = spawnSync(path, ['-e', script], { encoding: 'utf8' })
  const [version = '', program = ''] = (stdout ?? '').split('\n')
  if (status !== 0 || !(Number.parseInt(version, 10) >= LEAST_NODE)) return null
  // A script of a version manager would need its environment.
  const isItself = realpathSync(path) === realpathSync(program.trim())
  return { path: isItself ? path : program.trim(), isCopied: false }
}
