import { GrownBytes } from './grown-bytes.ts'

/**
 * A body that another process sends, as UTF-8.
 * @param body of an answer of `fetch`, or a stream
 * @throws Error if it is longer than that
 */
export async function readText(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<string> {
  const read = new GrownBytes(maxBytes)
  for await (const chunk of body ?? []) {
    if (!read.add(chunk)) throw new Error(`the answer is above ${maxBytes} bytes`)
  }
  return read.take().toString()
}

/** The same as a JSON value. @throws Error if it is too long, or no JSON */
export async function readJsonText(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<unknown> {
  return JSON.parse(await readText(body, maxBytes)) as unknown
}
