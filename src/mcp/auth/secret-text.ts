import { statSync } from 'node:fs'
import { readPlainText } from '../../files/read-plain-file.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Reads the text itself, or what it names: `env:NAME`, `file:PATH`. A file is read again when it
 * has changed, so that a secret can be replaced while the process runs.
 * @returns a function that gives the text as it is now
 * @throws Error for a variable or a file that is not there; later, the last text stays
 */
export function secretReader(text: string, env: Env): () => string {
  if (text.startsWith('file:')) return fileReader(text.slice('file:'.length))
  if (!text.startsWith('env:')) return () => text
  const value = env[text.slice('env:'.length)]
  if (value === undefined) throw new Error(`${text}: there is no such variable`)
  return () => value
}

function fileReader(path: string): () => string {
  let stamp = stampOf(path)
  let content = readPlainText(path).trim()
  return () => {
    try {
      const now = stampOf(path)
      if (now === stamp) return content
      const read = readPlainText(path).trim()
      // A file that is being written is empty for a moment.
      if (read !== '') [stamp, content] = [now, read]
    } catch {
      // It is being replaced.
    }
    return content
  }
}

function stampOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true })
  return `${ino} ${size} ${mtimeNs}`
}
