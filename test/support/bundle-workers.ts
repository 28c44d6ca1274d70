import { hash } from 'node:crypto'
import { globSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { BUNDLES, bundleName } from './bundled-worker.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** At a path that stays, for the compile cache; each content has a folder of its own in it. */
const KEPT = join(ROOT, 'node_modules/.cache/haversack-test-workers')
const KEPT_MS = 86_400_000

/** Modules of the threads and processes that tests start again and again. */
const WORKERS = [
  'workers/tasks.ts',
  'src/**/{thread,*-thread}.ts',
  'test/{integration,processes}/**/worker-*.ts',
  'test/support/mcp/raw-upstream.ts',
  'test/support/mcp/recording/child-process.ts',
]

/**
 * Bundles the modules of worker threads. A thread loads 400 modules from their sources, which takes
 * three quarters of a start; the tests start hundreds.
 */
export async function setup(): Promise<void> {
  process.env[BUNDLES] ??= await bundleModules([])
}

/**
 * Bundles them and other modules, for processes that a test starts.
 * @param others from the root of the repository
 * @returns the folder of the bundles
 */
export async function bundleModules(others: readonly string[]): Promise<string> {
  const files = globSync([...WORKERS, ...others], { cwd: ROOT }).map(file => join(ROOT, file))
  const bundle = await rolldown({
    input: Object.fromEntries(files.map(file => [bundleName(pathToFileURL(file)), file])),
    cwd: ROOT,
    platform: 'node',
    // What piscina and a worker share has to be one module; jsonc-parser requires files by name.
    external: ['piscina', 'msgpackr', 'jsonc-parser'],
    logLevel: 'silent',
    plugins: [{ name: 'own-url', transform: keepUrl }],
  })
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await bundle.close()
  const chunks = output.filter(part => part.type === 'chunk')
  const folder = join(KEPT, hash('sha256', chunks.map(chunk => chunk.code).join()))
  writeOnce(
    folder,
    chunks.map(({ fileName, code }) => [fileName, code]),
  )
  return folder
}

/** A module in a bundle finds files beside its source. */
function keepUrl(code: string, id: string): string | null {
  // The bundler's own module requires what is beside the bundle.
  if (id.startsWith('\0') || !code.includes('import.meta.url')) return null
  return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
}

/** Writes beside the folder and renames: another run of the tests may write the same. */
function writeOnce(folder: string, files: readonly (readonly [string, string])[]): void {
  mkdirSync(KEPT, { recursive: true })
  removeOld()
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh)
  for (const [name, code] of files) writeFileSync(join(fresh, name), code)
  try {
    renameSync(fresh, folder)
  } catch {
    // It is there already, with the same content.
    rmSync(fresh, { recursive: true })
  }
}

function removeOld(): void {
  for (const name of globSync('*', { cwd: KEPT })) {
    const path = join(KEPT, name)
    const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (Date.now() - modified > KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}
