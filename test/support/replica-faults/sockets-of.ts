import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const LOCAL_PORT = /^\s*\d+: [0-9A-F]{8}:([0-9A-F]{4}) .*?\s(\d+) \d+ [0-9a-f]+/

/** The local ports of a process's connections over IPv4, as Linux lists them; none if it is gone. */
export function localPortsOf(pid: number): ReadonlySet<number> {
  const ports = new Set<number>()
  try {
    const folder = `/proc/${pid}/fd`
    const inodes = new Set(readdirSync(folder).map(fd => inodeAt(`${folder}/${fd}`)))
    for (const line of readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n')) {
      const [, port = '', inode = ''] = LOCAL_PORT.exec(line) ?? []
      if (inode !== '' && inodes.has(inode)) ports.add(Number.parseInt(port, 16))
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && GONE.has(String(error.code)))) throw error
  }
  return ports
}

const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH'])

/** Empty for what is no socket, or was closed meanwhile. */
function inodeAt(path: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1] ?? ''
  } catch {
    return ''
  }
}
