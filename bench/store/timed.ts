import { createCipheriv, hash } from 'node:crypto'

/** Times of one kind of call, and what follows from them. */
export interface Timed {
  readonly ms: readonly number[]
  readonly total_ms: number
}

/** Runs `count` calls, `lanes` at a time, and takes the time of each. */
export async function timed(
  count: number,
  lanes: number,
  call: (i: number) => Promise<unknown>,
): Promise<Timed> {
  const ms: number[] = []
  let next = 0
  const started = performance.now()
  const lane = async () => {
    while (next < count) {
      const i = next++
      const from = performance.now()
      await call(i)
      ms.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return { ms, total_ms: performance.now() - started }
}

/** Bytes that nothing compresses, the same for the same seed. */
export function noise(size: number, seed: string): Uint8Array<ArrayBuffer> {
  const key = hash('sha256', seed, 'buffer')
  const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size))
  return new Uint8Array(bytes)
}

/** Lines of JSON such as tools give; three to five times smaller when compressed. */
export function prose(size: number, seed: string): Uint8Array<ArrayBuffer> {
  const random = noise(Math.ceil(size / 8), seed)
  let text = ''
  for (let i = 0; text.length < size; i++) {
    const [a = 0, b = 0, c = 0, d = 0] = random.subarray((4 * i) % (random.byteLength - 4))
    text += `{"id":${i},"path":"src/${a}/${b}.ts","size":${c * 256 + d},"state":"${d > 128 ? 'open' : 'closed'}"}\n`
  }
  return new Uint8Array(Buffer.from(text.slice(0, size)))
}
