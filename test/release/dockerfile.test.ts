import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildImage, type Image } from '../support/image/build-image.ts'
import { makeReadOnly, makeWritable } from '../support/image/root-folder.ts'
import { below, CAN_CHANGE_USER, identity, imageEnv } from '../support/image/run-in-image.ts'

const CONTEXT = fileURLToPath(new URL('../..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(CONTEXT, 'package.json'), 'utf8'))
const lock = JSON.parse(readFileSync(join(CONTEXT, 'package-lock.json'), 'utf8'))
/** Within which the service says that it listens, on a busy machine too. */
const READY_MS = 300_000

let folder: string
let image: Image

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'haversack-image-'))
  chmodSync(folder, 0o755) // the image's user has to get through
  image = buildImage(CONTEXT, folder)
  makeReadOnly(image.root)
  for (const volume of image.volumes) {
    chmodSync(inImage(volume), statSync(inImage(volume)).mode | 0o200)
  }
})

afterAll(() => {
  makeWritable(folder)
  rmSync(folder, { recursive: true, force: true })
})

const inImage = (path: string) => join(image.root, path)

/** Paths of the packages that the lock file marks as `wanted`. */
function packages(wanted: (entry: { dev?: boolean; optional?: boolean }) => boolean): string[] {
  return Object.keys(lock.packages).filter(path => path !== '' && wanted(lock.packages[path]))
}

describe('the final stage', () => {
  it('holds what runs and nothing else', () => {
    expect(readdirSync(inImage('app')).sort()).toEqual([
      'LICENSE',
      'dist',
      'node_modules',
      'package.json',
    ])
    expect(readdirSync(inImage('app/dist')).sort()).toEqual([
      'THIRD-PARTY-LICENSES.txt',
      'chunks',
      'models.toml',
      'prices.toml',
      'skills',
      'src',
      'views',
      'vocabularies',
      'workers',
    ])
    const odd = globSync(['**/.git', '**/.env', 'app/dist/**/*.test.*', 'app/dist/**/!(*.d).ts'], {
      cwd: image.root,
    })
    expect(odd).toEqual([])
  })

  it('holds every production dependency and no other', () => {
    const there = (path: string) => existsSync(inImage(`app/${path}`))
    expect(packages(({ dev }) => dev === true).filter(there)).toEqual([])
    const needed = packages(({ dev, optional }) => dev !== true && optional !== true)
    expect(needed.length).toBeGreaterThan(5)
    expect(needed.filter(path => !there(path))).toEqual([])
  })

  it('runs Node itself, as a numbered user that is not root', () => {
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(image.entrypoint?.[0]).toBe('node')
    expect(image.cmd).toEqual(['serve'])
    expect(image.healthcheck?.[0]).toBe('node')
  })

  it('says what it is, and where it listens and keeps data', () => {
    expect(image.exposed).toEqual(['8787'])
    expect(image.env).toMatchObject({ HAVERSACK_HOST: '0.0.0.0', NODE_ENV: 'production' })
    expect(image.volumes).toEqual([image.env['HAVERSACK_DATA_DIR']])
    expect(image.labels).toMatchObject({
      'org.opencontainers.image.version': manifest.version,
      'org.opencontainers.image.licenses': manifest.license,
    })
  })

  it('has an empty data folder, for its user only', () => {
    const folder = inImage(image.env['HAVERSACK_DATA_DIR'] ?? '')
    const { mode, uid } = statSync(folder)
    expect(readdirSync(folder)).toEqual([])
    expect(readdirSync(inImage('tmp'))).toEqual([])
    expect(mode & 0o777).toBe(0o700)
    expect(uid).toBe(identity(image).uid ?? process.getuid?.())
  })

  it('the final stage brings both caches', () => {
    const files = globSync('**', { cwd: inImage('var/cache/haversack') })
    expect(files).toEqual(
      expect.arrayContaining(['cl100k_base.vocabulary', 'o200k_base.vocabulary']),
    )
    expect(files.filter(file => file.startsWith('compiled/')).length).toBeGreaterThan(100)
  })
})

function words(list: readonly string[] | undefined): string[] {
  if (list === undefined) throw new Error('not in exec form')
  return list.map(word => below(image.root, word))
}

/** The container's process, with its root read-only. */
function run(variables: Record<string, string>): ChildProcess {
  const [program = '', ...args] = [...words(image.entrypoint), ...words(image.cmd)]
  return spawn(program, args, {
    cwd: inImage(image.workdir),
    env: { ...imageEnv(image), HAVERSACK_PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity(image),
  })
}

/** The port that it says it listens on. */
async function portOf(child: ChildProcess): Promise<string> {
  const late = setTimeout(() => child.kill('SIGKILL'), READY_MS)
  const lines = createInterface({ input: child.stdout as Readable })
  for await (const line of lines) {
    const port = /^haversack listens on http:\/\/0\.0\.0\.0:(\d+)$/.exec(line)?.[1]
    if (port === undefined) continue
    clearTimeout(late)
    return port
  }
  throw new Error('the service did not get ready')
}

/** Makes a keys file by the image's own command, as a mounted Secret would bring it. */
function addKey(): { file: string; key: string } {
  const file = join(folder, 'keys.json')
  const [program = '', ...args] = words(image.entrypoint)
  const command = ['keys', 'add', '--file', file, '--scopes', 'encode']
  const key = execFileSync(program, [...args, ...command], { env: imageEnv(image), stdio: 'pipe' })
  chmodSync(file, 0o444)
  return { file, key: key.toString().trim() }
}

function checkHealth(port: string): number | null {
  const [program = '', ...args] = words(image.healthcheck)
  const env = { ...imageEnv(image), HAVERSACK_PORT: port }
  return spawnSync(program, args, { env, ...identity(image) }).status
}

describe('the container', () => {
  it('can write to its volume and nowhere else', () => {
    const write = (path: string) =>
      spawnSync('node', ['--eval', `fs.writeFileSync('${inImage(path)}', '')`], {
        env: imageEnv(image),
        ...identity(image),
      }).status
    expect(write('var/lib/haversack/file')).toBe(0)
    const elsewhere = ['app/file', 'app/dist/src/cli.js', 'tmp/file', 'var/cache/haversack/file']
    expect(elsewhere.map(write)).toEqual([1, 1, 1, 1])
  })

  it('has all files that a command needs, for every command', () => {
    const [program = '', ...args] = words(image.entrypoint)
    const call = (...command: string[]) =>
      spawnSync(program, [...args, ...command], {
        ...{ cwd: inImage(image.workdir), env: imageEnv(image), encoding: 'utf8' },
        ...{ input: '[]', timeout: READY_MS, ...identity(image) },
      })
    const listed = call('help', '--all')
    expect(listed).toMatchObject({ status: 0, stderr: '' })
    const { stdout } = listed
    const commands = [...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!)
    expect(commands.length).toBeGreaterThan(20)
    for (const command of commands) {
      const { status, stderr } = call(command, '--help')
      expect([command, status, stderr]).toEqual([command, 0, ''])
    }
    for (const command of [
      'tune skill',
      'views list',
      'config show',
      'encode',
      'count',
      'store stats',
    ]) {
      const { stderr } = call(...command.split(' '))
      expect([command, stderr]).toEqual([command, expect.not.stringMatching(/dist|module|ENOENT/)])
    }
    expect(call('tune', 'skill')).toMatchObject({ status: 0, stdout: expect.stringContaining('#') })
  })

  it('does not start without keys', async () => {
    const child = run({})
    const [[code], faults] = await Promise.all([
      once(child, 'close'),
      text(child.stderr as Readable),
    ])
    expect(code).toBe(2)
    expect(faults).toContain('HAVERSACK_KEYS_FILE')
  })

  it('serves with a read-only root, is healthy, and ends by SIGTERM with 0', async () => {
    const { file, key } = addKey()
    const child = run({ HAVERSACK_KEYS_FILE: file })
    const exited = once(child, 'exit')
    const port = await portOf(child)
    child.stdout?.resume()
    const url = `http://127.0.0.1:${port}`
    const encode = (authorization: string) =>
      fetch(`${url}/v1/encode`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ content: '[{"a": 1},{"a": 2}]' }),
      })
    try {
      expect((await fetch(`${url}/livez`)).status).toBe(200)
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      expect((await encode('Bearer none')).status).toBe(401)
      const answer = await (await encode(`Bearer ${key}`)).json()
      expect(answer).toMatchObject({ layer: 'L2', lossless: true })
      expect(checkHealth(port)).toBe(0)
    } finally {
      child.kill('SIGTERM')
    }
    expect(await exited).toEqual([0, null])
    expect(checkHealth(port)).toBe(1)
  })

  it.runIf(CAN_CHANGE_USER)("starts on a volume that is root's, open to its group", async () => {
    // As Kubernetes mounts one with fsGroup; manifests then name a folder inside.
    const volume = inImage('var/lib/haversack')
    chownSync(volume, 0, identity(image).gid ?? 0)
    chmodSync(volume, 0o2775)
    const child = run({
      HAVERSACK_KEYS_FILE: addKey().file,
      HAVERSACK_DATA_DIR: join(volume, 'data'),
    })
    expect(await portOf(child)).not.toBe('')
    child.kill('SIGKILL')
  })
})
