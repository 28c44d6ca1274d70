import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readImports } from './read-imports.ts'

const root = new URL('../../../', import.meta.url)
const imports = readImports(root)
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8')

/** Names that a file imports from a module of Node; `*` if it takes all of it. */
function namesFrom(file: string, module: string): readonly string[] {
  const statements = textOf(file).matchAll(
    new RegExp(`import\\s+(type\\s+)?(\\{[^}]*\\}|[^{}'"]+)\\s+from\\s+'node:${module}'`, 'g'),
  )
  return [...statements].flatMap(([, type, names = '']) => {
    if (type !== undefined) return []
    if (!names.startsWith('{')) return ['*']
    const each = names.slice(1, -1).split(',')
    return each.map(name => name.trim()).filter(name => name !== '' && !name.startsWith('type '))
  })
}

/** Files that import one of these names, or all, with those names. */
function importersOf(module: string, allowed: readonly string[] = []): Record<string, string[]> {
  const found = [...imports.keys()].map(file => {
    const names = namesFrom(file, module).filter(name => !allowed.includes(name))
    return [file, names] as const
  })
  return Object.fromEntries(found.filter(([, names]) => names.length > 0)) as never
}

/** Everything that these files load. */
function closureOf(files: readonly string[]): ReadonlySet<string> {
  const found = new Set(files)
  // What is added on the way is visited, too.
  for (const file of found) for (const target of imports.get(file) ?? []) found.add(target)
  return found
}

/** What makes a module one of a thread. */
const BEGINNINGS = ['src/threads/own-thread.ts', 'src/runtime/serve-tasks.ts']

/** Modules of threads that `startThread` and Piscina start. */
const inThreads = [...imports]
  .filter(([file, targets]) => {
    return file.startsWith('workers/') || targets.some(each => BEGINNINGS.includes(each))
  })
  .map(([file]) => file)

describe('threads', () => {
  it('are started, and get their port and data, by one piece', () => {
    expect(importersOf('worker_threads')).toEqual({
      'src/threads/own-thread.ts': ['parentPort', 'workerData'],
      'src/threads/start-thread.ts': ['Worker'],
      // Piscina starts these; `src/pool/slots.ts` protects them.
      'workers/job-runner.ts': ['threadId'],
      'workers/thread.ts': ['parentPort', 'threadId', 'workerData'],
    })
  })

  it('use zlib through one module, which protects them', () => {
    const { 'src/proxy/answer-decoder.ts': streams, ...others } = importersOf('zlib', [
      'constants',
      'crc32',
    ])
    expect(others).toEqual({ 'src/core/base/zlib-calls.ts': ['*'] })
    expect(streams).toBeDefined()
    const loaded = closureOf(inThreads)
    expect(loaded).toContain('src/core/base/zlib-calls.ts')
    expect(loaded).toContain('src/lab/logs/chunks.ts')
    expect(loaded).toContain('src/book/tasks.ts')
    expect(loaded).not.toContain('src/proxy/answer-decoder.ts')
  })

  it('get neither module of Node at run time', () => {
    const others = [...imports.keys()].filter(file => {
      return /(?:require|import|getBuiltinModule)\(\s*['"](?:node:)?(?:zlib|worker_threads)/.test(
        textOf(file),
      )
    })
    expect(others).toEqual([])
  })
})
