import { createCipheriv, hash } from 'node:crypto'

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
