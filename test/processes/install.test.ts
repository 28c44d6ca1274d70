import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { installUser } from '../../scripts/install/install-user.ts'
import { installationFor } from '../../src/runtime/installation.ts'
import { eventually } from '../support/eventually.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const INSTALLER = new URL('../../scripts/install/install-user.ts', import.meta.url)
const all = mkdtempSync(join(tmpdir(), 'haversack-install-'))
afterAll(() => rmSync(all, { recursive: true }))

let folder: string
let root: string
let home: string
let count = 0

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
}

/** A clone whose program prints its arguments, with packages for production and development. */
beforeEach(() => {
  folder = join(all, String(count++))
  root = join(folder, 'clone')
  home = join(folder, "a user's home")
  mkdirSync(home, { recursive: true })
  put(join(root, 'package.json'), '{"type":"module","version":"1.2.3"}')
  put(join(root, 'LICENSE'), 'Apache')
  put(
    join(root, 'dist/src/cli.js'),
    'const a = process.argv.slice(2)\n' +
      'console.log(a[0] === "--version" ? "1.2.3" : JSON.stringify(a))\n',
  )
  put(join(root, 'plugin/hooks/hooks.json'), '{"command": "haversack hook claude"}')
  put(join(root, 'plugin/commands/savings.md'), '!`haversack savings`')
  put(join(root, '.claude-plugin/marketplace.json'), '{}')
  for (const name of ['a', 'a/node_modules/b', 'a/node_modules/only-dev', 'dev']) {
    put(join(root, 'node_modules', name, 'index.js'), name)
  }
  const packages = {
    '': {},
    'node_modules/a': {},
    'node_modules/a/node_modules/b': {},
    'node_modules/a/node_modules/only-dev': { dev: true },
    'node_modules/dev': { dev: true },
    'node_modules/of-another-system': { optional: true },
  }
  put(join(root, 'package-lock.json'), JSON.stringify({ packages }))
  put(
    join(root, 'node_modules/node/bin/node'),
    `#!/bin/sh\nexec '${process.execPath}' "$@"\n`,
    0o755,
  )
  put(join(folder, 'old/node'), '#!/bin/sh\nprintf "20.1.0\\n/usr/bin/node\\n"\n', 0o755)
})

/** The user's PATH has an old Node unless told. */
function install(PATH = join(folder, 'old')) {
  const env = { HOME: home, PATH }
  const place = installationFor(env)!
  return { ...installUser({ root, env, place }), ...place }
}

const versionsIn = () => readdirSync(join(home, '.local/share/haversack/versions')).sort()
const current = () => readlinkSync(join(home, '.local/share/haversack/current'))

/** What a shell prints for a command in an empty environment. */
function shell(command: string): string {
  return execFileSync('/bin/sh', ['-c', command], { env: {}, encoding: 'utf8' }).trim()
}

function haversack(...args: string[]) {
  const env = { HOME: home, PATH: '/usr/bin:/bin' }
  return spawnSync(process.execPath, [CLI, ...args], { env, encoding: 'utf8', cwd: folder })
}

describe('an installation', () => {
  it('starts by its path, in an empty environment, with its own Node if the user has an old one', () => {
    const { launcher, name, node } = install()
    expect([name, node.isCopied]).toEqual(['1.2.3-local', true])
    const quoted = `'${launcher.replaceAll("'", "'\\''")}'`
    expect(shell(`${quoted} a "b c" ''`)).toBe('["a","b c",""]')
    expect(lstatSync(join(home, '.local/share/haversack/current/node')).isFile()).toBe(true)
  })

  it('starts with the Node of the user, but never with one that npm puts on the PATH', () => {
    const node = join(folder, 'new/node')
    put(node, '')
    rmSync(node)
    symlinkSync(process.execPath, node)
    const ofNpm = join(root, 'node_modules/node/bin')
    const { launcher } = install([ofNpm, dirname(node), join(folder, 'old')].join(delimiter))
    expect(readlinkSync(join(home, '.local/share/haversack/current/node'))).toBe(node)
    expect(execFileSync(launcher, ['x'], { env: {}, encoding: 'utf8' })).toBe('["x"]\n')
    rmSync(node)
    const gone = spawnSync(launcher, { encoding: 'utf8' })
    expect([gone.status, gone.stderr]).toEqual([127, expect.stringContaining('install:user again')])
  })

  it('has the packages of production, and nothing else', () => {
    const packages = join(install().folder, 'current/node_modules')
    const files = readdirSync(packages, { recursive: true, encoding: 'utf8' })
    expect(files.filter(each => each.endsWith('.js')).sort()).toEqual([
      'a/index.js',
      'a/node_modules/b/index.js',
    ])
    expect(existsSync(join(packages, '../LICENSE'))).toBe(true)
  })

  it('has a plugin whose commands run by a shell in an empty environment', () => {
    install()
    const plugin = join(home, '.local/share/haversack/current/plugin')
    const hooks = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8'))
    expect(shell(hooks.command)).toBe('["hook","claude"]')
    const [, savings = ''] = /`(.+)`/.exec(
      readFileSync(join(plugin, 'commands/savings.md'), 'utf8'),
    )!
    expect(shell(savings)).toBe('["savings"]')
  })

  it('an installation goes below XDG_DATA_HOME', () => {
    const env = { HOME: home, PATH: '', XDG_DATA_HOME: join(folder, 'data') }
    installUser({ root, env, place: installationFor(env)! })
    expect(readdirSync(join(folder, 'data/haversack')).sort()).toEqual(['current', 'versions'])
    expect(existsSync(join(home, '.local/share'))).toBe(false)
  })
})

describe('an upgrade', () => {
  it('switches to the new version, keeps the two newest, and leaves the launcher where it is', () => {
    const { launcher } = install()
    const before = readFileSync(launcher, 'utf8')
    install()
    expect(current()).toBe('versions/1.2.3-local.2')
    expect(versionsIn()).toEqual(['1.2.3-local', '1.2.3-local.2'])
    install()
    expect(versionsIn()).toEqual(['1.2.3-local.2', '1.2.3-local.3'])
    expect(readFileSync(launcher, 'utf8')).toBe(before)
  })

  it.each([
    ['a file that is missing', () => rmSync(join(root, 'LICENSE'))],
    ['a program that does not start', () => put(join(root, 'dist/src/cli.js'), 'throw 1')],
    ['another version', () => put(join(root, 'package.json'), '{"version":"9.9.9"}')],
  ])('leaves what was there if it fails: %s', (_, damage) => {
    const { launcher } = install()
    damage()
    expect(() => install()).toThrow()
    expect([versionsIn(), current()]).toEqual([['1.2.3-local'], 'versions/1.2.3-local'])
    expect(execFileSync(launcher, ['x'], { encoding: 'utf8' })).toBe('["x"]\n')
  })

  it('leaves what was there if it is killed, and the next one removes the rest', async () => {
    const { launcher } = install()
    for (let i = 0; i < 2_000; i++) put(join(root, 'node_modules/a', `${i}.js`), '')
    const options = { root, env: { PATH: '' }, place: installationFor({ HOME: home }) }
    const script = `import { installUser } from ${JSON.stringify(INSTALLER.href)}
      installUser(${JSON.stringify(options)})`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script])
    await eventually(() => expect(versionsIn()[0]).toBe(`.new-${child.pid}`))
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(current()).toBe('versions/1.2.3-local')
    expect(versionsIn()).toEqual([`.new-${child.pid}`, '1.2.3-local'])
    expect(execFileSync(launcher, ['x'], { encoding: 'utf8' })).toBe('["x"]\n')
    install()
    expect(versionsIn()).toEqual(['1.2.3-local', '1.2.3-local.2'])
  })
})

describe('nothing is overwritten', () => {
  it.each([
    ['a program', (path: string) => put(path, '#!/bin/sh\n')],
    ['a link', (path: string) => symlinkSync('/bin/true', path)],
    ['a folder', (path: string) => mkdirSync(path)],
  ])('%s in the place of the launcher', (_, make) => {
    const path = join(home, '.local/bin/haversack')
    mkdirSync(dirname(path), { recursive: true })
    make(path)
    const before = lstatSync(path).mtimeMs
    expect(() => install()).toThrow('is of another program')
    expect(lstatSync(path).mtimeMs).toBe(before)
    expect(existsSync(join(home, '.local/share'))).toBe(false)
    haversack('uninstall', '--yes')
    expect(lstatSync(path).mtimeMs).toBe(before)
  })

  it('a folder in the place of the link', () => {
    put(join(home, '.local/share/haversack/current/mine'), '')
    expect(() => install()).toThrow('is not a link of ours')
    expect(existsSync(join(home, '.local/share/haversack/current/mine'))).toBe(true)
  })

  it('a home that cannot be written', () => {
    rmSync(home, { recursive: true })
    put(home, 'no folder')
    expect(() => install()).toThrow(/ENOTDIR|EEXIST/)
  })
})

describe('uninstall', () => {
  const settings = () => join(home, '.claude/settings.json')
  const data = () => join(home, '.local/share/haversack/store.db')

  it('puts back what setup wrote, removes the rest, and keeps the data', () => {
    const { launcher } = install()
    put(settings(), '{ "model": "x" }')
    put(data(), 'kept')
    expect(haversack('setup', '--yes', '--hook', 'claude').status).toBe(0)
    expect(haversack('uninstall')).toMatchObject({
      status: 2,
      stdout: expect.stringContaining(launcher),
    })
    expect(existsSync(launcher)).toBe(true)
    const { status, stdout, stderr } = haversack('uninstall', '--yes')
    expect([status, stderr]).toEqual([0, expect.stringContaining('is uninstalled. Kept: ')])
    expect(stdout.split('\n').map(line => line.split(' ')[0])).toEqual([
      'put',
      ...['remove', 'remove', 'remove', ''],
    ])
    expect(readFileSync(settings(), 'utf8')).toBe('{ "model": "x" }')
    expect(readdirSync(dirname(data()))).toEqual(['store.db'])
    expect(existsSync(launcher)).toBe(false)
    expect(haversack('uninstall', '--yes').stderr).toContain('nothing is installed')
  })

  it('removes the data if told', () => {
    install()
    put(data(), 'removed')
    expect(haversack('uninstall', '--yes', '--data').status).toBe(0)
    expect(existsSync(dirname(data()))).toBe(false)
  })

  it('removes nothing if a file was changed since', () => {
    const { launcher } = install()
    put(settings(), '{}')
    haversack('setup', '--yes', '--hook', 'claude')
    writeFileSync(settings(), `${readFileSync(settings(), 'utf8')} `)
    const { status, stderr } = haversack('uninstall', '--yes')
    expect([status, stderr]).toEqual([1, expect.stringContaining('was changed since')])
    expect([existsSync(launcher), versionsIn()]).toEqual([true, ['1.2.3-local']])
  })
})
