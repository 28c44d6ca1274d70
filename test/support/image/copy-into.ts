import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { CAN_CHANGE_USER } from './run-in-image.ts'

export interface CopyOptions {
  readonly from: string
  readonly sources: readonly string[]
  readonly target: string
  /** `65532:65532`, or undefined for root. */
  readonly chown?: string | undefined
  /** Which paths below `from` there are for the build; all, where it is an earlier stage. */
  readonly allows?: (path: string) => boolean
}

/**
 * COPY: files into a folder (its name ends in a slash), a folder's content into another, or a file
 * to a file.
 * @throws where a source is not there, or `.dockerignore` keeps it out
 */
export function copyInto({ from, sources, target, chown, allows }: CopyOptions): void {
  for (const source of sources) {
    const path = join(from, source)
    if (!existsSync(path)) throw new Error(`COPY ${source}: there is no such file`)
    if (allows?.(source) === false) throw new Error(`COPY ${source}: .dockerignore keeps it out`)
    const intoFolder = target.endsWith('/') && !lstatSync(path).isDirectory()
    const to = intoFolder ? join(target, basename(source)) : target
    cpSync(path, to, {
      recursive: true,
      verbatimSymlinks: true,
      ...(allows && { filter: (file: string) => allows(file.slice(from.length + 1)) }),
    })
    if (chown !== undefined && CAN_CHANGE_USER) spawnSync('chown', ['-R', chown, to])
  }
}
