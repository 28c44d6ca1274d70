import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

/** The relative specifiers of static, dynamic and type imports and of exports from other files. */
const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.[^']+)'/g

const DYNAMIC = /\bimport\s*\(\s*'[^']+'/g

const TYPES_ONLY = /^(?:import|export) type [^']*'[^']*'/gm

/**
 * Every file of `src/` and `workers/` with the files that it imports, as paths from the root.
 * @param what `values`: without imports of types, which load nothing; `at start`: without those
 *   either that are loaded when they are needed
 */
export function readImports(
  root: URL,
  what: 'all' | 'values' | 'at start' = 'all',
): ReadonlyMap<string, readonly string[]> {
  const cwd = fileURLToPath(root)
  const files = globSync(['src/**/*.ts', 'workers/**/*.ts'], { cwd })
  return new Map(
    files.map(file => {
      const whole = readFileSync(join(cwd, file), 'utf8')
      const values = what === 'all' ? whole : whole.replace(TYPES_ONLY, '')
      const text = what === 'at start' ? values.replace(DYNAMIC, '') : values
      const specifiers = [...text.matchAll(SPECIFIER)].map(([, specifier]) => specifier as string)
      const targets = specifiers.map(specifier => join(dirname(file), specifier))
      return [file, [...new Set(targets)].filter(target => target.endsWith('.ts'))]
    }),
  )
}

/** The row of the table of layers that a file belongs to. */
export function areaOf(file: string): string {
  const [top, folder, inner, ...rest] = file.split('/')
  if (top === 'workers') return 'workers'
  if (inner === undefined) return 'entry points'
  return folder === 'core' && rest.length > 0 ? `core/${inner}` : (folder as string)
}
