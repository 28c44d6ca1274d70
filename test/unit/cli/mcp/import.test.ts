import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readClientFile } from '../../../../src/cli/mcp/import/client-file.ts'
import { toConfig } from '../../../../src/cli/mcp/import/to-config.ts'
import { type Asker, importServers } from '../../../../src/cli/mcp/import.ts'
import { mcpSchema } from '../../../../src/config/mcp.ts'
import type { CheckedServer } from '../../../../src/mcp/check-server.ts'
import type { GatewayServer } from '../../../../src/mcp/gateway-options.ts'

const VSCODE = `{
  // asked once
  "inputs": [{ "id": "token", "type": "promptString" }],
  "servers": {
    "files": { "command": "npx", "args": ["-y", "files"], "env": { "API_KEY": "\${env:FILES_KEY}", "MODE": "fast" } },
    "my hub": { "type": "http", "url": "https://hub.example/mcp", "headers": { "X-Token": "\${input:token}" } },
  },
}
`
const CODEX = `# mine
model = "x"

[mcp_servers.docs] # of the team
url = "https://docs.example/mcp"
bearer_token_env_var = "DOCS"
enabled_tools = ["search"]

[mcp_servers.files.env]
A_SECRET = "clear"

[mcp_servers.files]
command = "files"

[tui]
theme = "dark" # stays
`
const CLAUDE = JSON.stringify({
  mcpServers: { a: { command: 'a' }, off: { command: 'b', disabled: true } },
  projects: {
    '/p': { mcpServers: { a: { url: 'https://a.example' }, tools: gateway('x') } },
    '/q': { mcpServers: {} },
  },
  other: 1,
})

function gateway(config: string) {
  return { command: 'haversack', args: ['mcp', '--config', config] }
}

const imported = (text: string, isToml = false) => {
  const { toml, warnings } = toConfig(readClientFile(text, isToml).servers)
  return { servers: mcpSchema.parse((parse(toml) as { mcp: object }).mcp).servers, warnings }
}

describe('the servers of', () => {
  it('servers of VS Code are found in its file', () => {
    const { servers, warnings } = imported(VSCODE)
    expect(servers).toMatchObject({
      files: {
        command: 'npx',
        args: ['-y', 'files'],
        env: { API_KEY: 'env:FILES_KEY', MODE: 'fast' },
      },
      'my-hub': { auth: { kind: 'headers', headers: { 'X-Token': 'env:X_TOKEN_VALUE' } } },
    })
    expect(warnings.join('\n')).toMatch(/my hub is called my-hub.*\n.*X_TOKEN_VALUE/)
  })

  it('servers of Codex are found in its file', () => {
    const { servers, warnings } = imported(CODEX, true)
    expect(servers).toMatchObject({
      docs: {
        auth: { headers: { Authorization: 'env:DOCS_HEADER' } },
        tools: { include: ['search'] },
      },
      files: { command: 'files', env: { A_SECRET: 'clear' } },
    })
    expect(warnings.join('\n')).toMatch(/A_SECRET stands in the clear/)
  })

  it('Claude Code, of all folders, without what is off or the gateway itself', () => {
    const { servers, warnings } = imported(CLAUDE)
    expect(Object.keys(servers)).toEqual(['a', 'a-2'])
    expect(warnings.join('\n')).toContain('off: it is disabled')
  })

  it('servers are found in no other file', () => {
    expect(() => imported('{"a":1}')).toThrow('no MCP servers')
    expect(() => imported('{"a":')).toThrow('not JSON')
    expect(() => imported('a = ', true)).toThrow('not TOML')
  })
})

describe('a file', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'haversack-import-'))
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    rmSync(folder, { recursive: true })
  })

  const values = (options: object = {}) => ({
    config: join(folder, 'haversack.toml'),
    'data-dir': undefined,
    write: false,
    undo: false,
    ...options,
  })

  /** All of them connect, but those that are named. */
  const connectingBut =
    (...failing: string[]): Asker =>
    ({ mcp }) =>
      Promise.resolve(
        Object.keys(mcp.servers).map(name => ({
          server: { name } as GatewayServer,
          found: { failure: failing.includes(name) ? 'it does not answer' : null } as CheckedServer,
        })),
      )
  const connecting = connectingBut()

  it.each([
    ['mcp.json', VSCODE, '// asked once'],
    ['config.toml', CODEX, 'theme = "dark" # stays'],
    ['.claude.json', CLAUDE, '"other": 1'],
  ])(
    '%s is changed to use the gateway, and put back byte for byte',
    async (name, text, comment) => {
      const file = join(folder, name)
      writeFileSync(file, text, { mode: 0o640 })
      await importServers(values({ write: true }), [file], connecting)
      const changed = readFileSync(file, 'utf8')
      expect(changed).toContain(comment)
      const { servers } = readClientFile(changed, name.endsWith('.toml'))
      for (const { terms } of servers) expect(terms).toMatchObject(gateway(values().config))
      expect(servers.length).toBe(readClientFile(text, name.endsWith('.toml')).places.length)
      expect(statSync(file).mode & 0o777).toBe(0o640)
      expect(readFileSync(values().config, 'utf8')).toContain('[mcp.servers.')
      await expect(importServers(values({ write: true }), [file], connecting)).rejects.toThrow(
        'no server to import',
      )
      await importServers(values({ undo: true }), [file], connecting)
      expect(readFileSync(file, 'utf8')).toBe(text)
      await expect(importServers(values({ undo: true }), [file], connecting)).rejects.toThrow(
        'there is no',
      )
    },
  )

  it('that changed since is left alone', async () => {
    const file = join(folder, 'mcp.json')
    writeFileSync(file, VSCODE)
    await importServers(values({ write: true }), [file], connecting)
    const changed = readFileSync(file, 'utf8').replace('asked once', 'asked twice')
    writeFileSync(file, changed)
    await expect(importServers(values({ undo: true }), [file], connecting)).rejects.toThrow(
      'was changed since',
    )
    expect(readFileSync(file, 'utf8')).toBe(changed)
  })

  it('that is a link or read-only is refused', async () => {
    const file = join(folder, 'mcp.json')
    writeFileSync(file, VSCODE)
    const link = join(folder, 'link.json')
    symlinkSync(file, link)
    await expect(importServers(values({ write: true }), [link], connecting)).rejects.toThrow(
      'no plain file',
    )
    chmodSync(file, 0o400)
    await expect(importServers(values({ write: true }), [file], connecting)).rejects.toThrow(
      'may not be written',
    )
    expect(readFileSync(file, 'utf8')).toBe(VSCODE)
  })

  it('of ours without the servers is not taken for one that has them', async () => {
    const file = join(folder, 'mcp.json')
    writeFileSync(file, VSCODE)
    writeFileSync(values().config, '[mcp.servers.files]\ncommand = "npx"\n')
    await expect(importServers(values({ write: true }), [file], connecting)).rejects.toThrow(
      'my-hub',
    )
    expect(readFileSync(file, 'utf8')).toBe(VSCODE)
  })

  it('is left alone if one of its servers does not connect', async () => {
    const file = join(folder, 'mcp.json')
    writeFileSync(file, VSCODE)
    const write = () => importServers(values({ write: true }), [file], connectingBut('my-hub'))
    await expect(write()).rejects.toThrow('my-hub: it does not answer')
    expect(readFileSync(file, 'utf8')).toBe(VSCODE)
    // Nothing is asked of the others in that configuration.
    writeFileSync(
      values().config,
      `${readFileSync(values().config, 'utf8')}[mcp.servers.b]\ncommand = "b"\n`,
    )
    await importServers(values({ write: true }), [file], connectingBut('b'))
    expect(readFileSync(file, 'utf8')).toContain('"haversack"')
  })
})
