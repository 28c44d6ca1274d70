import { readFileSync, statSync } from 'node:fs'

/** The error for a pipe, a socket or a device, on which a reader may wait forever. */
class NotPlainError extends Error {
  readonly code = 'ENOTPLAIN'
  readonly path: string

  constructor(path: string) {
    super(`${path} is no plain file`)
    this.path = path
  }
}

/**
 * The bytes of a file that a person names; links are followed.
 * @throws the system's error, or one with the code `ENOTPLAIN`
 */
export function readPlainFile(path: string): Buffer {
  const found = statSync(path)
  if (!found.isFile() && !found.isDirectory()) throw new NotPlainError(path)
  return readFileSync(path)
}

/** The same as text in UTF-8. */
export function readPlainText(path: string): string {
  return readPlainFile(path).toString('utf8')
}
