import { fileURLToPath } from 'node:url'

/** Servers of others, over stdio, as npm packages install them. */
const NPM_SERVERS = {
  everything: import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
  filesystem: import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
  memory: import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'),
} as const

/** How to start one; the file system server takes the folders that it may read. */
export function npmServerCommand(
  name: keyof typeof NPM_SERVERS,
  ...args: readonly string[]
): { command: string; args: string[] } {
  return { command: process.execPath, args: [fileURLToPath(NPM_SERVERS[name]), ...args] }
}
