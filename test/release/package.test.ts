import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, posix } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processEnv } from '../../src/config/env.ts'
import type { EncodeAnswer } from '../../src/index.ts'
import { VERSION } from '../../src/runtime/version.ts'

/** Unpacked, in bytes: the compiled sources, the vocabularies and the documents, nothing else. */
const MAX_UNPACKED_BYTES = 14_800_000
/** With the packages that are installed with it. */
const MAX_INSTALLED_BYTES = 30_000_000
/** What `haversack/codec` loads. */
const MAX_CODEC_BYTES = 1_000_000
/** Most files, and bytes of them, that a command's main thread loads: each costs at every start. */
const MOST_LOADED: readonly (readonly [command: string, files: number, bytes: number])[] = [
  ['run -- true', 56, 1_750_000],
  ['encode', 80, 1_600_000],
  ['hook claude', 20, 60_000],
  ['gain', 26, 90_000],
]
/** Within which the service says that it listens, on a busy machine too. */
const READY_MS = 300_000
const RECORDS = JSON.stringify(
  Array.from({ length: 20 }, (_, id) => ({
    id,
    name: `name ${id}`,
    price: `1.${id}0`,
    open: true,
  })),
  null,
  2,
)

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

/** As a user's shell, with the Node that runs this test in front. */
const env = {
  ...processEnv(),
  PATH: [dirname(process.execPath), processEnv()['PATH']].join(delimiter),
}
let folder: string
let home: string
let packed: Packed

function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }).toString()
}

function haversack(args: string[], input = '', own: NodeJS.ProcessEnv = {}): string {
  const command = join(home, 'node_modules/.bin/haversack')
  const options = { cwd: home, env: { ...env, ...own }, input, stdio: 'pipe' } as const
  return execFileSync(command, args, options).toString()
}

/** The bytes of all files of a folder. */
function sizeOf(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter(f => f.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/** Runs a module of the user's own, which imports the package by its name. */
function runModule(source: string): string {
  writeFileSync(join(home, 'module.mjs'), source)
  return execFileSync(process.execPath, ['module.mjs'], { cwd: home, env }).toString()
}

async function startServe(
  settings: NodeJS.ProcessEnv,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(join(home, 'node_modules/.bin/haversack'), ['serve', '--port', '0'], {
    cwd: home,
    env: { ...env, HAVERSACK_WORKERS: '1', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // One whose workers do not load would try for ever.
  const late = setTimeout(() => child.kill('SIGKILL'), READY_MS)
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  clearTimeout(late)
  if (line === undefined) throw new Error('the service did not get ready')
  return { child, url: String(line).replace('haversack listens on ', '') }
}

async function encodeOverHttp(
  request: object,
  settings: NodeJS.ProcessEnv = {},
): Promise<EncodeAnswer> {
  const { child, url } = await startServe(settings)
  try {
    const response = await fetch(`${url}/v1/encode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    expect(response.status).toBe(200)
    return (await response.json()) as EncodeAnswer
  } finally {
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
  }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'haversack-package-'))
  home = join(folder, 'elsewhere')
  mkdirSync(home)
  const out = npm('.', 'pack', '--json', '--silent', '--pack-destination', folder)
  packed = JSON.parse(out.slice(out.indexOf('[')))[0]
  writeFileSync(join(home, 'package.json'), '{"private":true}')
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  npm(home, 'install', ...quiet, join(folder, packed.filename))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the packed tarball', () => {
  it('holds compiled sources and documents, nothing else', () => {
    const paths = packed.files.map(({ path }) => path)
    const odd = paths.filter(
      path =>
        !/^dist\/(src|workers|chunks)\/.+\.(js|d\.ts|json|lua|wasm)$/.test(path) &&
        !/^dist\/vocabularies\/((o200k|cl100k|p50k|r50k)_base\.json|tiktoken(_bg)?\.(cjs|wasm))$/.test(
          path,
        ) &&
        path !== 'dist/THIRD-PARTY-LICENSES.txt' &&
        !/^dist\/((prices|models)\.toml|views\/[a-z-]+\.(toml|json)|skills\/[a-z-]+\/SKILL\.md)$/.test(
          path,
        ) &&
        !/^dist\/src\/ui\/assets\/(style\.css|(keys|live)\.js|icon\.svg)$/.test(path) &&
        !/^docs\/((guide|reference|internals)\/)?[\w-]+\.md$/.test(path) &&
        !/^(docs\/guide\/pictures\/[\w-]+\.\w+|docs\/examples\/[\w-]+\.\w+)$/.test(path) &&
        !/^(bench\/README\.md|bench\/kit\/protocol\.md|bench\/results\/[\w-]+\.(json|md))$/.test(
          path,
        ) &&
        !/^(package\.json|config\.example\.toml|prices\.toml|[A-Z]+\.md|LICENSE)$/.test(path),
    )
    expect(odd).toEqual([])
    expect(paths).toEqual(
      expect.arrayContaining(['dist/src/cli.js', 'dist/src/index.d.ts', 'dist/workers/tasks.js']),
    )
    expect(packed.unpackedSize).toBeLessThan(MAX_UNPACKED_BYTES)
  })

  it('has what its documents link to', () => {
    const own = join(home, 'node_modules/haversack')
    const paths = new Set(packed.files.map(({ path }) => path))
    const documents = [...paths].filter(path => path.endsWith('.md'))
    const links = documents.flatMap(from => {
      const text = readFileSync(join(own, from), 'utf8')
      return [...text.matchAll(/\]\((?![a-z]+:|#)([^)\s#]+)/g)].map(([, to = '']) => {
        return posix.join(posix.dirname(from), to)
      })
    })
    expect(links.length).toBeGreaterThan(100)
    expect(links.filter(to => !paths.has(to))).toEqual([])
  })

  it('has the licences of the packages that were put in, and of none that stays outside', () => {
    const own = join(home, 'node_modules/haversack')
    const licenses = readFileSync(join(own, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
    const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
    expect(licenses).toMatch(/^zod \d/m)
    for (const name of ['hono', 'pino', 'tiktoken', '@redis/client', '@opentelemetry/sdk-trace']) {
      expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'))
      expect(dependencies).not.toHaveProperty(name)
    }
    for (const name of ['msgpackr', 'piscina']) {
      expect(dependencies).toHaveProperty(name)
      expect(licenses).not.toMatch(new RegExp(`^${name} \\d`, 'm'))
    }
  })
})

describe('installed elsewhere', () => {
  it('takes little space with what it needs', () => {
    expect(sizeOf(join(home, 'node_modules'))).toBeLessThan(MAX_INSTALLED_BYTES)
  })

  it('has what is loaded only if it is configured', async () => {
    // Nothing listens there: that the modules load is shown by a service that answers.
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      HAVERSACK_REDIS_URL: 'redis://127.0.0.1:9',
    }
    const answer = await encodeOverHttp({ content: RECORDS }, settings)
    expect(answer.lossless).toBe(true)
  })

  it('says on an old Node what to type', () => {
    const old = join(folder, 'old-node.mjs')
    writeFileSync(old, `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`)
    const command = join(home, 'node_modules/haversack/dist/src/cli.js')
    const args = [`--import=${pathToFileURL(old)}`, command, '--version']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^haversack: Node 24 or newer is needed, .* npx .*haversack\n$/)
  })

  it('has a command that encodes, decodes and counts', () => {
    expect(haversack(['--version'])).toBe(`${VERSION}\n`)
    const answer = JSON.parse(haversack(['encode', '--json'], RECORDS)) as EncodeAnswer
    expect(answer.tokens.final).toBeLessThan(answer.tokens.baseline)
    expect(haversack(['decode', '--format', answer.format], answer.content)).toBe(
      JSON.stringify(JSON.parse(RECORDS)),
    )
    expect(haversack(['count', '--check'], RECORDS)).toBe(`${answer.tokens.baseline}\n`)
    expect(haversack(['count', '--tokenizer', 'gpt2'], 'hello  world')).toBe('3\n')
    expect(haversack(['views', 'list'])).toContain('code-search-hits')
  })

  it('serves, answers what the library answers, and ends by SIGTERM with 0', async () => {
    const request = { content: RECORDS, tool: 'list', tokenizer: 'cl100k_base' }
    const served = await encodeOverHttp(request)
    const out = runModule(`import { count, decode, encode } from 'haversack'
      const { content, ...rest } = ${JSON.stringify(request)}
      const answer = encode({ content, ...rest })
      const restored = decode({ content: answer.content, format: answer.format })
      const { tokens } = count({ content, tokenizer: rest.tokenizer })
      console.log(JSON.stringify({ answer, restored, tokens }))`)
    const { answer, restored, tokens } = JSON.parse(out)
    expect(answer).toEqual(served)
    expect(JSON.parse(restored.content)).toEqual(JSON.parse(RECORDS))
    expect(tokens).toBe(served.tokens.baseline)
  })
})

describe('a start', () => {
  it.each(MOST_LOADED)('of %s loads few files', (command, files, bytes) => {
    const trace = join(folder, 'trace.mjs')
    const log = join(folder, `${command.split(' ')[0]}.trace`)
    writeFileSync(
      trace,
      `import { appendFileSync } from 'node:fs'
      import { registerHooks } from 'node:module'
      import { isMainThread } from 'node:worker_threads'
      registerHooks({ load(url, context, next) {
        if (isMainThread && url.startsWith('file:')) appendFileSync(process.env.LOADED, url + '\\n')
        return next(url, context)
      } })`,
    )
    const NODE_OPTIONS = `--import=${pathToFileURL(trace)}`
    haversack(command.split(' '), RECORDS, { NODE_OPTIONS, LOADED: log })
    const loaded = [...new Set(readFileSync(log, 'utf8').trim().split('\n'))]
    expect(loaded.length).toBeGreaterThan(5)
    expect(loaded.length).toBeLessThanOrEqual(files)
    const sizes = loaded.map(url => statSync(fileURLToPath(url)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(bytes)
  })
})

describe('haversack/codec', () => {
  it('answers without a setting, and loads little', () => {
    const out = runModule(`import { createCodec } from 'haversack/codec'
      const codec = await createCodec()
      const { content, format } = codec.encode(${JSON.stringify(RECORDS)})
      console.log(format, JSON.parse(codec.decode(content, format)).length)`)
    expect(out).toBe('tree@2 20\n')
    expect(bytesLoadedBy('library/codec.js')).toBeLessThan(MAX_CODEC_BYTES)
    expect(bytesLoadedBy('library/codec.js')).toBeLessThan(0.85 * bytesLoadedBy('index.js'))
  })
})

/** Bytes of an entry of `dist/src` and of all that it imports, its packages put in. */
function bytesLoadedBy(entry: string): number {
  const files = new Set([join(home, 'node_modules/haversack/dist/src', entry)])
  let bytes = 0
  for (const file of files) {
    const code = readFileSync(file, 'utf8')
    bytes += Buffer.byteLength(code)
    for (const [, to = ''] of code.matchAll(/^(?:import|export)\b[^'"]*["'](\.[^"']+\.js)["']/gm)) {
      files.add(join(dirname(file), to))
    }
  }
  return bytes
}

describe('npm run install:user', () => {
  const user = () => join(folder, "a user's home")
  const launcher = () => join(user(), '.local/bin/haversack')
  const inShell = () => `'${launcher().replaceAll("'", "'\\''")}'`

  function shell(command: string, input = '', own = {}): string {
    return execFileSync('/bin/sh', ['-c', command], { env: own, input, encoding: 'utf8' })
  }

  /** The built package, for a user with a new Node or an old one. */
  function install(PATH: string): string {
    const args = ['scripts/install.ts', '--built']
    const own = { HOME: user(), PATH, SHELL: '/bin/zsh' }
    return execFileSync(process.execPath, args, { env: own, encoding: 'utf8' })
  }

  it('installs what is within its size, and what runs in an empty environment', () => {
    mkdirSync(user())
    const node = join(folder, 'node')
    symlinkSync(process.execPath, node)
    const printed = install(`${folder}:/usr/bin:/bin`)
    expect(printed).toContain('echo \'export PATH="$HOME/.local/bin:$PATH"\' >> ~/.zshrc')
    expect(printed).toContain(`It runs with ${node}.`)
    expect(sizeOf(join(user(), '.local/share/haversack/versions'))).toBeLessThan(
      MAX_INSTALLED_BYTES,
    )
    expect(shell(`${inShell()} --version`)).toBe(`${VERSION}\n`)
    const answer = JSON.parse(shell(`${inShell()} encode --json`, RECORDS, { HOME: user() }))
    expect(answer).toMatchObject({ layer: 'L2' })
    expect(shell(`${inShell()} run -- /bin/echo hello`, '', { HOME: user() })).toBe('hello\n')
  })

  it('writes commands into the files of agents that run by a shell in an empty environment', () => {
    const settings = join(user(), '.claude/settings.json')
    const read = () => JSON.parse(readFileSync(settings, 'utf8'))
    const setUp = (...args: string[]) =>
      execFileSync(launcher(), ['setup', '--yes', ...args, 'claude'], {
        env: { HOME: user() },
        stdio: 'pipe',
      })
    setUp('--hook')
    const hook = read().hooks.PostToolUse[0].hooks[0].command
    expect(hook).toMatch(/^'.*haversack' hook claude --url /)
    expect(shell(hook, '{}')).toBe('')
    setUp('--undo')
    setUp('--statusline')
    const line = read().statusLine.command
    expect(line).toMatch(/^'.*haversack' statusline --url /)
    expect(shell(line, '{}')).toBe('')
    execFileSync(launcher(), ['uninstall', '--yes'], { env: { HOME: user() }, stdio: 'pipe' })
    expect([existsSync(settings), existsSync(launcher())]).toEqual([false, false])
  })
})
