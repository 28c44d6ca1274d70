import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { reasonOfFile } from '../runtime/system-reason.ts'
import { UsageError } from './command.ts'

/**
 * The text of a file, or of standard input for `-` and no operand.
 * @throws UsageError if it cannot be read, or is not UTF-8 (decoding it would change it silently)
 */
export async function readInput(operand: string | undefined): Promise<string> {
  const bytes = await readBytes(operand ?? '-')
  if (!isUtf8(bytes)) throw new UsageError(`${operand ?? 'standard input'} is not UTF-8 text`)
  return bytes.toString('utf8')
}

/**
 * The bytes of a file, or of standard input for `-`.
 * @throws UsageError if it cannot be read
 */
export async function readBytes(operand: string): Promise<Buffer> {
  return operand === '-' ? await buffer(process.stdin) : readFile(operand)
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${path} ${reasonOfFile(code) ?? `cannot be read (${code})`}`)
  }
}
