import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { READING_LEVELS, type ReadingLevel } from '../../../../src/core/reading/constructs.ts'
import { encode } from '../../../../src/index.ts'
import { FULL_RUNS, SEED } from '../../../support/runs.ts'
import { someOf } from '../../../support/short-runs.ts'

/** Languages by the ends of their files' names. */
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  C: ['.c', '.cc', '.cpp', '.h'],
  CSS: ['.css'],
  HTML: ['.html'],
  JavaScript: ['.cjs', '.js', '.mjs'],
  Perl: ['.pl', '.pm'],
  PowerShell: ['.ps1'],
  'protocol buffers': ['.proto'],
  Python: ['.gypi', '.py'],
  shell: ['.sh'],
  systemd: ['.service'],
  TypeScript: ['.cts', '.mts', '.ts'],
  XML: ['.xml'],
  YAML: ['.yaml', '.yml'],
}
const LANGUAGE_OF = new Map(
  Object.entries(LANGUAGES).flatMap(([name, ends]) => ends.map(end => [end, name] as const)),
)
const MOST_OF_AN_END = 70
const MOST_BYTES = 24_000
/** Folders of the system with source; some systems lack them. */
const OF_THE_SYSTEM = [
  '/usr/lib/python3',
  '/usr/lib/systemd/system',
  '/usr/share/mime',
  '/usr/share/perl',
]

/** Up to so many files of each end, chosen by their names alone: the same whatever else is there. */
function filesIn(folders: readonly string[]): readonly string[] {
  const files = folders.filter(existsSync).flatMap(folder => {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return names.flatMap(name => {
      const end = extname(name)
      return LANGUAGE_OF.has(end) ? { end, path: join(folder, name), order: hash('md5', name) } : []
    })
  })
  files.sort((a, b) => (a.order < b.order ? -1 : 1))
  const taken = new Map<string, number>()
  return files.flatMap(({ path, end }) => {
    const before = taken.get(end) ?? 0
    if (before === MOST_OF_AN_END) return []
    const { size } = statSync(path)
    if (size === 0 || size > MOST_BYTES) return []
    taken.set(end, before + 1)
    return path
  })
}

/** The packages that are installed; a short run looks at every tenth, other ones each time. */
function packages(): readonly string[] {
  const folders = readdirSync('node_modules').map(name => join('node_modules', name))
  return folders.filter((folder, at) => {
    return (FULL_RUNS || at % 10 === SEED % 10) && statSync(folder).isDirectory()
  })
}

/** Lines of what is sent that are none of the file's, and count no lines either. */
function strangeLines(text: string, reading: ReadingLevel): readonly string[] {
  const { content, format } = encode({ content: text, reading })
  // Lines that look like hints are marked.
  if (content === text || format.startsWith('escaped@1')) return []
  const own = new Set(text.split('\n'))
  return content
    .split('\n')
    .filter(line => !own.has(line) && !/^×\d+(?: \(\d lines\))?$/.test(line))
}

/** A short run looks at every tenth file, other ones each time. */
function cutFiles(files: readonly string[]): readonly string[] {
  return files.filter((path, at) => {
    if (!FULL_RUNS && at % 10 !== SEED % 10) return false
    const level = READING_LEVELS[(FULL_RUNS ? at : Math.floor(at / 10)) % READING_LEVELS.length]!
    return strangeLines(readFileSync(path, 'utf8'), level).length > 0
  })
}

describe('files of source and settings', () => {
  it('are sent with whole lines, in ten languages', () => {
    const files = filesIn(packages())
    const languages = new Set(files.map(path => LANGUAGE_OF.get(extname(path))))
    expect(files.length).toBeGreaterThanOrEqual(FULL_RUNS ? 500 : 30)
    expect(languages.size).toBeGreaterThanOrEqual(FULL_RUNS ? 10 : 2)
    expect(cutFiles(files)).toEqual([])
  })

  it('are sent so too if they are the system’s', () => {
    const files = filesIn(OF_THE_SYSTEM)
    // Which ones there are is not ours to say.
    expect(cutFiles(files).length).toBeLessThanOrEqual(files.length / 50)
  })

  it('are known by their first line, and output by its places and times', () => {
    const rows = (make: (at: number) => string) => Array.from({ length: 40 }, (_, at) => make(at))
    const names = rows(at => `export * from "./components/controls/button-${'xyz'[at % 3]}${at}"`)
    expect(encode({ content: names.join('\n') }).format).toBe('passthrough')
    const indented = rows(at => `    <glob pattern="application-of-kind-${at}"/>`)
    expect(encode({ content: `<?xml version="1.0"?>\n${indented.join('\n')}` }).format).toBe(
      'passthrough',
    )
    const found = rows(at => `src/components/controls/list.ts:${at * 3}:  const a${at} = open();`)
    expect(encode({ content: found.join('\n') }).format).toMatch(/^prefixed@1/)
    const errors = `# example.org/tool/segments\n${found.join('\n')}`
    expect(encode({ content: errors }).format).toMatch(/^prefixed@1/)
    const journal = rows(at => `Jul 14 10:02:${10 + at} host service[811]: started job ${at}`)
    const log = `-- Journal begins at Mon 2026-07-13 --\n${journal.join('\n')}`
    expect(encode({ content: log }).format).not.toBe('passthrough')
  })
})

/** What stands whole on lines of the output of tools. */
const WORDS = ['orders', 'stock', 'refund_total', 'users', 'cart-items', 'v2', 'list']
const word = (at: number) => WORDS[at % WORDS.length]!
const TEST_IDS = (at: number) =>
  `tests/unit/test_${word(at)}.py::Test${word(at >> 1)}::test_${word(at >> 2)}[${word(at)}-${at}]`
const PATHS = (at: number) => `src/${word(at >> 2)}/${word(at >> 1)}/2026-07-${10 + (at % 20)}.ts`
const PROGRAMS = [
  'go mod tidy',
  'npm run build -- --filter=cart-items',
  'git mv src/orders.ts lib/orders.ts',
  'make -j4 list/users',
  'docker compose up -d stock',
]
/** A command now and then: many like ones would be rows of a table. */
const COMMANDS = (at: number) =>
  at % 12 === 5 ? PROGRAMS[Math.floor(at / 12) % PROGRAMS.length]! : `step ${at}`

const OUTPUTS: readonly ((id: string, at: number) => string)[] = [
  id => id,
  (id, at) => `PASSED ${id} in 0.${at % 10}${at % 7}s`,
  (id, at) => `2026-07-14 10:02:${10 + (at % 50)} INFO worker[${at % 4}] runs ${id}`,
  (id, at) => `  ${at} ${id}`,
  (id, at) => `10:02:${10 + (at % 50)} GET ${200 + (at % 3)} took ${at} ms for ${id}; ok`,
]

/** Each line of a text, and each below a heading after what the heading says. */
function readBelowHeadings(content: string): string {
  let heading = ''
  const lines = content.split('\n').map(line => {
    if (line === '') heading = ''
    if (line.endsWith('…')) heading = line.slice(0, -1)
    return heading + line
  })
  return `${content}\n${lines.join('\n')}`
}

describe.each(Object.entries({ TEST_IDS, PATHS, COMMANDS }))('%s on a line', (_, idOf) => {
  it.each(READING_LEVELS)('stand whole, or below one heading, in %s texts', reading => {
    let forms = 0
    for (const line of OUTPUTS) {
      for (const start of someOf([0, 7], 1)) {
        const ids = Array.from({ length: 60 }, (_, at) => idOf(start + at))
        const content = ids.map(line).join('\n')
        const sent = encode({ content, reading })
        if (sent.format !== 'passthrough') forms++
        const read = readBelowHeadings(sent.content)
        const whole = ids.filter(id => !id.startsWith('step '))
        expect(whole.filter(id => !read.includes(id))).toEqual([])
      }
    }
    if (reading !== 'plain') expect(forms).toBeGreaterThan(0)
  })
})
