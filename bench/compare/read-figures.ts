import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository that this file is in. */
export const HERE = fileURLToPath(new URL('../..', import.meta.url))

/** A commit's files in a folder of their own. */
interface Checkout extends Disposable {
  readonly folder: string
  /** The commit's hash. */
  readonly commit: string
}

/**
 * Unpacks a commit beside this one, with the packages that are installed here. If the process is
 * killed, a folder for temporary files remains, and nothing in the repository.
 * @throws {Error} if there is no such commit
 */
export function checkOut(name: string): Checkout {
  const commit = run('git', '-C', HERE, 'rev-parse', '--verify', `${name}^{commit}`).trim()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-compare-'))
  const archive = join(folder, 'archive.tar')
  run('git', '-C', HERE, 'archive', '--format=tar', '-o', archive, commit)
  run('tar', '-xf', archive, '-C', folder)
  rmSync(archive)
  symlinkSync(join(HERE, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    commit,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** The figures of a bench's output, by the names of their rows and columns. */
export type Figures = ReadonlyMap<string, number>

const NUMBER = /^[≤≥<>~]?\s*(-?\d[\d,]*(?:\.\d+)?)\s*(?:%|×|ms|s|MB|MiB|µs)?$/
const RULE = /^[\s:|-]+$/

/**
 * Reads Markdown tables. A figure is named by the cells of its row that are no numbers, and by its
 * column. If a name comes again, it gets a number.
 */
export function readFigures(output: string): Figures {
  const figures = new Map<string, number>()
  const add = (name: string, figure: number) => figures.set(unusedName(figures, name), figure)
  let header: readonly string[] | null = null
  for (const line of output.split('\n')) {
    const cells = cellsOf(line)
    if (cells === null || header === null) header = cells
    else if (!RULE.test(line)) addRow(header, cells, add)
  }
  return figures
}

type Add = (name: string, figure: number) => void

function addRow(header: readonly string[], cells: readonly string[], add: Add): void {
  const row = cells.filter(cell => cell !== '' && numberOf(cell) === null).join(', ')
  for (const [index, cell] of cells.entries()) {
    const figure = numberOf(cell)
    if (figure !== null) add([row, header[index] ?? ''].filter(Boolean).join(': '), figure)
  }
}

/** The cells of a row of a table; `null` if the line is none. */
function cellsOf(line: string): readonly string[] | null {
  const trimmed = line.trim()
  if (!trimmed.startsWith('|') || !trimmed.endsWith('|') || trimmed.length < 2) return null
  return trimmed
    .slice(1, -1)
    .split('|')
    .map(cell => cell.trim())
}

function numberOf(cell: string): number | null {
  const digits = NUMBER.exec(cell)?.[1]
  return digits === undefined ? null : Number(digits.replaceAll(',', ''))
}

function unusedName(figures: Figures, name: string): string {
  if (!figures.has(name)) return name
  for (let n = 2; ; n++) if (!figures.has(`${name} (${n})`)) return `${name} (${n})`
}
