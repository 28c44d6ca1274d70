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
