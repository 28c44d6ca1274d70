import { join } from 'node:path/posix'

/** Programs whose starts are told apart, by their modules. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  cli: ['src/cli.js', 'src/cli/run-cli.js'],
  run: ['src/cli/run/command.js'],
  hook: ['src/cli/hook/command.js'],
  gain: ['src/cli/gain/command.js'],
  library: ['src/index.js', 'src/cli/encode/command.js'],
  codec: ['src/library/codec.js'],
  store: ['src/store/sqlite/thread.js', 'src/store/parts/parts-thread.js'],
  book: ['src/book/thread.js'],
}

interface Modules {
  getModuleInfo(id: string): {
    readonly isEntry: boolean
    readonly importedIds: readonly string[]
  } | null
}

/**
 * Names the file of each module that `haversack run` loads at its start. By itself a bundler makes a
 * file for each set of programs and threads that share modules, which were 130 for a run. What a
 * module imports is loaded by all programs that load the module, so files import each other in no
 * circle.
 * @param folder absolute, with compiled modules
 * @param threads modules of other threads than those of tasks, below the folder
 */
export function startGroups(folder: string, threads: readonly string[]) {
  const programs = Object.entries({ ...PROGRAMS, threads })
  let loaded: (readonly [program: string, modules: ReadonlySet<string>])[] | undefined
  return (id: string, modules: Modules): string | null => {
    loaded ??= programs.map(([name, files]) => {
      const roots = files.map(file => join(folder, file))
      return [name, importedBy(roots, modules)] as const
    })
    const by = loaded.filter(([, ids]) => ids.has(id)).map(([name]) => name)
    if (!by.includes('run') || modules.getModuleInfo(id)?.isEntry) return null
    return `start-${by.join('-')}`
  }
}

/** Modules, and all that they import before they run. */
function importedBy(roots: readonly string[], modules: Modules): ReadonlySet<string> {
  const found = new Set(roots)
  // What is added on the way is visited, too.
  for (const id of found) {
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported)
  }
  return found
}
