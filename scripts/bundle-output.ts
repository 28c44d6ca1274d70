import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { isBuiltin } from 'node:module'
import { dirname, isAbsolute, join, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { type OutputChunk, rolldown } from 'rolldown'
import { startGroups } from './start-groups.ts'
import { thirdPartyLicenses } from './third-party-licenses.ts'

/** What is started by its path: programs, what a program imports, and the modules of threads. */
const PROGRAMS = ['src/{cli,main,index,library/codec}.js', 'workers/tasks.js']
const THREADS = 'src/**/{thread,*-thread}.js'
/** The licenses of the packages that were put in. */
const LICENSES = 'THIRD-PARTY-LICENSES.txt'
/** Stands for the URL of the module that it is in, until its bundle is known. */
const URL_OF = '__URL_OF__'
const PLACE = new RegExp(`${URL_OF}\\("([^"]+)"\\)`, 'g')

/**
 * An `import` of this module reads all that it exports. Some of that loads Node's `fetch`, which
 * takes 45 ms of processor time.
 */
const HTTP = 'node:http'
const LIGHT_HTTP = '\0light-http'
const HTTP_NAMES = Object.entries(Object.getOwnPropertyDescriptors(http))
  .filter(([, { get }]) => get === undefined)
  .map(([name]) => name)

const JSONC_PARSER = fileURLToPath(
  new URL('../node_modules/jsonc-parser/lib/esm/main.js', import.meta.url),
)

/**
 * Puts the compiled modules of a folder into few files. A thread loads 400 modules otherwise, which
 * takes three quarters of its start. Entries keep their paths. Packages that are not installed with
 * ours are put in, as far as they are used, with their licences.
 * @param folder absolute, with compiled modules
 * @param installed names of packages that stay outside
 * @param copied files of other packages that were copied into the folder
 */
export async function bundleOutput(
  folder: string,
  installed: readonly string[],
  copied: readonly string[],
): Promise<void> {
  const threads = globSync(THREADS, { cwd: folder })
  const entries = [...globSync(PROGRAMS, { cwd: folder }), ...threads]
  const bundle = await rolldown({
    input: Object.fromEntries(
      entries.map(entry => [entry.replace(/\.js$/, ''), join(folder, entry)]),
    ),
    cwd: folder,
    platform: 'node',
    // An entry in a file of its own may give others what they share with it.
    preserveEntrySignatures: 'allow-extension',
    // Its other form loads its files by names that no bundle has.
    resolve: { alias: { 'jsonc-parser': JSONC_PARSER } },
    external: id => (isBuiltin(id) && id !== HTTP) || installed.includes(packageOf(id)),
    plugins: [
      {
        name: 'light-http',
        resolveId: id => (id === HTTP ? LIGHT_HTTP : null),
        load: id =>
          id === LIGHT_HTTP
            ? `export const { ${HTTP_NAMES.join(', ')} } = process.getBuiltinModule('${HTTP}')`
            : null,
      },
      {
        name: 'own-url',
        transform: (code, id) =>
          id.startsWith(folder) && code.includes('import.meta.url')
            ? code.replaceAll('import.meta.url', `${URL_OF}("${relative(folder, id)}")`)
            : null,
        renderChunk: (code, { fileName }) =>
          code.replaceAll(PLACE, (_, module: string) => {
            const path = relative(dirname(fileName), module)
            return `new URL(${JSON.stringify(path)}, import.meta.url).href`
          }),
      },
    ],
  })
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      // What a module imports has the group of the module, or one that more programs load.
      includeDependenciesRecursively: false,
      groups: [{ name: startGroups(folder, threads), debugName: 'starts' }],
    },
    // Stripped from what runs only; the licences have a file of their own.
    comments: { jsdoc: false, legal: false },
  })
  await bundle.close()
  const chunks = output.filter((part): part is OutputChunk => part.type === 'chunk')
  for (const file of globSync('**/*.js', { cwd: folder, exclude: ['src/ui/assets/**'] })) {
    rmSync(join(folder, file))
  }
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds)
  writeFileSync(join(folder, LICENSES), thirdPartyLicenses([...modules, ...copied]))
  for (const { fileName, code } of chunks) {
    const file = join(folder, fileName)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code)
  }
}

/** The package of a module's name; empty for a path. */
function packageOf(id: string): string {
  if (id.startsWith('.') || isAbsolute(id)) return ''
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/')
}
