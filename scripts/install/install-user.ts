import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import {
  INSTALLATION_FILE,
  type Installation,
  LAUNCHER_MARK,
  quoteForShell,
} from '../../src/runtime/installation.ts'
import { type ChosenNode, chooseNode, type Env, nameOfNode } from './choose-node.ts'
import { shellLauncher, windowsLauncher } from './launchers.ts'

const IS_WINDOWS = process.platform === 'win32'
/** The current one, and the one that a service or an agent may still be running. */
const KEPT_VERSIONS = 2
/** Folders that are being filled begin so; the process that fills one is in its name. */
const PARTIAL = '.new-'

export interface InstallOptions {
  /** A clone with `dist` and its packages. */
  readonly root: string
  readonly env: Env
  readonly place: Installation
}

export interface Installed {
  /** VERSION-REVISION. */
  readonly name: string
  readonly folder: string
  readonly node: ChosenNode
}

/**
 * Installs what was built, and makes it the current version.
 * @throws Error if something of another program is in the way, or a folder cannot be written; what
 * was installed before is unchanged then
 */
export function installUser({ root, env, place }: InstallOptions): Installed {
  const { launcher, folder } = place
  checkOurs(place)
  const versions = join(folder, 'versions')
  for (const each of [versions, dirname(launcher)]) mkdirSync(each, { recursive: true })
  removePartial(versions)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const target = freeName(versions, `${version}-${revisionOf(root)}`)
  const partial = join(versions, PARTIAL + process.pid)
  const node = chooseNode(root, env)
  try {
    fill(partial, { root, place, node })
    checkRuns(partial, node, version)
    renameSync(partial, target)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
  if (!IS_WINDOWS) switchTo(target, join(folder, 'current'))
  writeAtomic(launcher, IS_WINDOWS ? windowsLauncher(target, node) : shellLauncher(folder))
  removeOld(versions, target)
  return { name: basename(target), folder: target, node }
}

/** @throws Error for a launcher or a link that is not ours */
export function checkOurs({ launcher, folder }: Installation): void {
  const there = lstatSync(launcher, { throwIfNoEntry: false })
  const isOurs = there?.isFile() === true && readFileSync(launcher, 'utf8').includes(LAUNCHER_MARK)
  if (there !== undefined && !isOurs) {
    throw new Error(
      `${launcher} is of another program: remove it, or give another folder: ` +
        'npm run install:user -- --bin FOLDER',
    )
  }
  const current = join(folder, 'current')
  const link = lstatSync(current, { throwIfNoEntry: false })
  if (link !== undefined && !link.isSymbolicLink())
    throw new Error(`${current} is not a link of ours`)
}

function fill(
  partial: string,
  { root, place, node }: { root: string; place: Installation; node: ChosenNode },
): void {
  mkdirSync(partial)
  for (const each of ['dist', 'LICENSE', 'package.json', 'plugin', '.claude-plugin']) {
    cpSync(join(root, each), join(partial, each), { recursive: true })
  }
  for (const each of productionPackages(root)) copyPackage(root, partial, each)
  callLauncher(join(partial, 'plugin'), quoteForShell(place.launcher))
  writeFileSync(join(partial, 'dist', INSTALLATION_FILE), JSON.stringify(place))
  const own = join(partial, nameOfNode())
  if (node.isCopied) cpSync(realpathSync(node.path), own)
  else if (!IS_WINDOWS) symlinkSync(node.path, own)
}

/** The packages that the lock file has for production, and that are there: some are for one system. */
function productionPackages(root: string): readonly string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>
  }
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true && existsSync(join(root, path)))
    .map(([path]) => path)
}

/** Without the packages within it, which the lock file lists by themselves. */
function copyPackage(root: string, partial: string, path: string): void {
  const from = join(root, path)
  cpSync(from, join(partial, path), {
    recursive: true,
    filter: each => !relative(from, each).split(sep).includes('node_modules'),
  })
}

/** The plugin of a clone finds the command on the PATH. */
function callLauncher(plugin: string, program: string): void {
  const hooks = join(plugin, 'hooks', 'hooks.json')
  const inJson = JSON.stringify(program).slice(1, -1)
  replaceIn(hooks, text => text.replaceAll('"haversack ', () => `"${inJson} `))
  const savings = join(plugin, 'commands', 'savings.md')
  replaceIn(savings, text => text.replaceAll(/(?<=[`(])haversack(?= savings)/g, () => program))
}

function replaceIn(file: string, edit: (text: string) => string): void {
  writeFileSync(file, edit(readFileSync(file, 'utf8')))
}

/** Short hash of the commit. The same one again gets a number: folders are never written twice. */
function revisionOf(root: string): string {
  const { stdout } = spawnSync('git', ['-C', root, 'rev-parse', '--short=8', 'HEAD'], {
    encoding: 'utf8',
  })
  return stdout?.trim() || 'local'
}

function freeName(versions: string, name: string): string {
  for (let number = 1; ; number++) {
    const path = join(versions, number === 1 ? name : `${name}.${number}`)
    if (!existsSync(path)) return path
  }
}

/** @throws Error if the version does not start, with what it printed */
function checkRuns(partial: string, node: ChosenNode, version: string): void {
  const program = node.isCopied ? join(partial, nameOfNode()) : node.path
  const cli = join(partial, 'dist', 'src', 'cli.js')
  const printed = execFileSync(program, [cli, '--version'], { encoding: 'utf8' }).trim()
  if (printed !== version) throw new Error(`the new version prints ${printed} for --version`)
}

/** In one step: a call finds the earlier version or this one. */
function switchTo(target: string, current: string): void {
  const next = `${current}.${process.pid}`
  rmSync(next, { force: true })
  symlinkSync(join('versions', basename(target)), next)
  renameSync(next, current)
}

function writeAtomic(file: string, text: string): void {
  const next = `${file}.${process.pid}`
  writeFileSync(next, text)
  chmodSync(next, 0o755)
  renameSync(next, file)
}

/** Those of processes that are gone. */
function removePartial(versions: string): void {
  for (const name of readdirSync(versions)) {
    if (!name.startsWith(PARTIAL)) continue
    try {
      process.kill(Number(name.slice(PARTIAL.length)), 0)
    } catch {
      rmSync(join(versions, name), { recursive: true, force: true })
    }
  }
}

function removeOld(versions: string, target: string): void {
  const others = readdirSync(versions)
    .filter(name => !name.startsWith('.'))
    .map(name => join(versions, name))
    .filter(each => each !== target)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const each of others.slice(KEPT_VERSIONS - 1)) rmSync(each, { recursive: true, force: true })
}
