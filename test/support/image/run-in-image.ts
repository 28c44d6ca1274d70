import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Where and as whom a command of an image runs. */
export interface Surroundings {
  /** The folder that stands for the image's root. */
  readonly root: string
  readonly workdir: string
  /** The image's own variables; absolute paths in them are rewritten too. */
  readonly env: Readonly<Record<string, string>>
  /** `65532:65532`, or empty for root. */
  readonly user: string
}

/** Folders at the top of an image that its commands may name. */
const TOP_FOLDERS = 'app|build|etc|opt|root|run|srv|tmp|var'
const ABSOLUTE = new RegExp(`(^|[\\s"'=:(])/(?=(?:${TOP_FOLDERS})\\b)`, 'g')

/**
 * Whether this process may act as another user, as in CI. Elsewhere everything belongs to its own
 * user.
 */
export const CAN_CHANGE_USER = process.getuid?.() === 0

/** Rewrites the absolute paths of an image so that they lie below `root`. */
export function below(root: string, text: string): string {
  return text.replaceAll(ABSOLUTE, `$1${root}/`)
}

/** What `spawn` needs to act as the image's user; nothing if this process cannot. */
export function identity({ user }: Surroundings): { uid?: number; gid?: number } {
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(user) ?? []
  if (!CAN_CHANGE_USER || uid === undefined || gid === undefined) return {}
  return { uid: Number(uid), gid: Number(gid) }
}

/** The environment of a process in the image: nothing of this machine but the way to its tools. */
export function imageEnv({ root, env }: Surroundings): Record<string, string> {
  const own = Object.entries(env).map(([name, value]) => [name, below(root, value)])
  return {
    HOME: join(root, 'root'),
    TMPDIR: join(root, 'tmp'),
    ...Object.fromEntries(own),
    PATH: `${join(root, 'usr/local/bin')}:/usr/bin:/bin`,
  }
}

/**
 * Runs the text of a RUN. npm gets its settings and its cache from this machine. Where this process
 * cannot change owners, `chown` does nothing.
 */
export function runShell(where: Surroundings, text: string): void {
  const { root, workdir } = where
  const script = below(root, CAN_CHANGE_USER ? text : `chown() { :; }; ${text}`)
  const env = imageEnv(where)
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], {
    cwd: join(root, workdir),
    env: {
      ...ownSettings(),
      ...env,
      HOME: process.env['HOME'],
      PATH: `${env['PATH']}:${process.env['PATH']}`,
    },
    encoding: 'utf8',
    ...identity(where),
  })
  if (status !== 0) throw new Error(`RUN ${text}\nended with ${status}\n${stdout}${stderr}`)
}

/**
 * This machine's variables without what the test runner, npm scripts or a user of the service have
 * set.
 */
function ownSettings(): NodeJS.ProcessEnv {
  const foreign = /^(HAVERSACK_|NODE_(?!EXTRA_CA)|VITEST|TEST|npm_(?!config_))/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}
