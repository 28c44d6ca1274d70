import { get_encoding } from 'tiktoken'

/**
 * The tokens of a text as lengths in UTF-8 bytes, in their order, by tiktoken.
 * @param encoding for example `o200k_base`
 */
export function createTokenBytes(
  encoding: 'o200k_base' | 'cl100k_base',
): (text: string) => number[] {
  const tokenizer = get_encoding(encoding)
  const lengths = new Map<number, number>()
  return text =>
    Array.from(tokenizer.encode_ordinary(text), id => {
      const known = lengths.get(id)
      if (known !== undefined) return known
      const length = tokenizer.decode_single_token_bytes(id).length
      lengths.set(id, length)
      return length
    })
}
