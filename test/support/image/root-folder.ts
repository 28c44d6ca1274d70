import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
} from 'node:fs'
import { join } from 'node:path'

/**
 * A folder that stands for the root of a stage, as an image with Node and nothing else of interest.
 */
export function createRoot(root: string): void {
  for (const folder of ['usr/local/bin', 'root', 'tmp', 'var/lib', 'var/cache']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  chmodSync(root, 0o755)
  chmodSync(join(root, 'tmp'), 0o1777)
  addNode(join(root, 'usr/local/bin/node'))
}

/** This Node, not by a symbolic link: another user may not get through to where it lies. */
function addNode(path: string): void {
  const node = realpathSync(process.execPath)
  try {
    linkSync(node, path)
  } catch {
    copyFileSync(node, path) // on another file system
  }
}

/** A stage that starts from another one. */
export function copyRoot(from: string, root: string): void {
  cpSync(from, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
}

/**
 * Takes every right to write away, as a read-only root file system does. Not in `usr`, whose Node
 * may be the very file that runs this.
 */
export function makeReadOnly(root: string): void {
  for (const name of readdirSync(root)) {
    if (name !== 'usr') changeMode('a-w', join(root, name))
  }
  chmodSync(root, 0o555)
}

/** Gives the owner the right to write back, so that the folder can be removed. */
export function makeWritable(root: string): void {
  changeMode('u+w', root)
}

function changeMode(mode: string, root: string): void {
  const { status, stderr } = spawnSync('chmod', ['-R', mode, root], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`chmod ${mode}: ${stderr}`)
}
