/** What the operating system refuses, as the rest of a sentence about a file. */
const OF_FILES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'leads through what is no folder',
  EISDIR: 'is a folder; name a file',
  EACCES: 'is not allowed for this user',
  EPERM: 'is not allowed for this user',
  EROFS: 'cannot be written: its disk is read-only',
  ENOSPC: 'cannot be written: its disk is full',
  EEXIST: 'is there already',
  ELOOP: 'leads in a circle of links',
  ENOTPLAIN: 'is no plain file',
}

/** The rest of a sentence about a file; `undefined` for a code that is none of these. */
export function reasonOfFile(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(OF_FILES, code) ? OF_FILES[code] : undefined
}

/**
 * Why something failed, as a sentence of ours if the operating system refused it, and else the
 * message of the error.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const {
    code = '',
    path,
    address,
    port,
  } = error as NodeJS.ErrnoException & {
    readonly address?: string
    readonly port?: number
  }
  if (address !== undefined) return ofAddress(code, address, port) ?? error.message
  const what = reasonOfFile(code)
  return path === undefined || what === undefined ? error.message : `${path} ${what}`
}

function ofAddress(code: string, address: string, port = 0): string | undefined {
  if (code === 'EADDRINUSE') {
    return `something listens at ${address}:${port} already: end it, or give another --port`
  }
  if (code === 'EADDRNOTAVAIL') return `${address} is no address of this machine`
  if (code === 'EACCES') return `port ${port} is not allowed for this user: give another --port`
  return undefined
}
