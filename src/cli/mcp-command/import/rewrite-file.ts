import { randomUUID } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { applyEdits, modify, parse } from 'jsonc-parser'
import { parse as parseToml, stringify } from 'smol-toml'
import { at, type ClientFile } from './client-file.ts'

/** The name of the gateway in a client's file. */
const GATEWAY = 'haversack'

/** How a client starts the gateway. */
export interface GatewayEntry {
  readonly command: string
  readonly args: readonly string[]
}

function backupOf(file: string): string {
  return `${file}.haversack-backup`
}

/**
 * The text with the gateway in the place of all servers; comments elsewhere stay.
 * @throws Error if that cannot be shown to change nothing else
 */
export function withGateway(text: string, client: ClientFile, entry: GatewayEntry): string {
  if (client.syntax === 'toml') return tomlWithGateway(text, entry)
  const formattingOptions = {
    insertSpaces: true,
    tabSize: 2,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  return client.places.reduce((changed, place) => {
    const names = Object.keys(at(parse(changed, [], { allowTrailingComma: true }), place) as object)
    const set = (before: string, name: string, value: unknown) =>
      applyEdits(before, modify(before, [...place, name], value, { formattingOptions }))
    const emptied = names.reduce((before, name) => set(before, name, undefined), changed)
    return set(emptied, GATEWAY, entry)
  }, text)
}

/** Whole tables are removed, line by line. The result is read again, and compared. */
function tomlWithGateway(text: string, entry: GatewayEntry): string {
  let isServer = false
  const kept = text.split('\n').filter(line => {
    const header = /^\s*\[+\s*([^\]]*?)\s*\]+/.exec(line)?.[1]
    if (header !== undefined) isServer = /^"?mcp_servers"?\s*(?:\.|$)/.test(header)
    return !isServer
  })
  const added = stringify({ mcp_servers: { [GATEWAY]: entry } })
  const changed = `${kept.join('\n').trimEnd()}\n\n${added}\n`
  const expected = { ...parseToml(text), mcp_servers: { [GATEWAY]: { ...entry } } }
  if (!isDeepStrictEqual(plain(parseToml(changed)), plain(expected))) {
    throw new Error('its servers are not in tables of their own: change it by hand')
  }
  return changed
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/**
 * Replaces a file as a whole, and keeps what it was beside it.
 * @throws Error for a link, a file that may not be written, or one with a backup
 */
export function replaceWithBackup(file: string, before: string, after: string): void {
  checkWritable(file)
  const backup = backupOf(file)
  if (existsSync(backup)) throw new Error(`${backup} is there already: --undo first, or remove it`)
  const { mode } = lstatSync(file)
  if (readFileSync(file, 'utf8') !== before) throw new Error(`${file} has just changed: try again`)
  writeAtomic(backup, before, mode)
  writeAtomic(file, after, mode)
}

/**
 * Puts back what a file was before.
 * @throws Error if there is no backup, or the file was changed since
 */
export function restore(file: string, isOurs: (text: string, before: string) => boolean): void {
  const backup = backupOf(file)
  if (!existsSync(backup)) throw new Error(`there is no ${backup}`)
  checkWritable(file)
  const before = readFileSync(backup, 'utf8')
  if (!isOurs(readFileSync(file, 'utf8'), before)) {
    throw new Error(`${file} was changed since: put back by hand what you want of ${backup}`)
  }
  renameSync(backup, file)
}

function checkWritable(file: string): void {
  if (!lstatSync(file).isFile()) throw new Error(`${file} is no plain file: name the file itself`)
  try {
    accessSync(file, constants.W_OK)
  } catch {
    throw new Error(`${file} may not be written`)
  }
  if ((lstatSync(file).mode & 0o222) === 0) throw new Error(`${file} may not be written`)
}

function writeAtomic(file: string, text: string, mode: number): void {
  const temporary = `${file}.${randomUUID()}`
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: 0o600 })
    chmodSync(temporary, mode & 0o777)
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
