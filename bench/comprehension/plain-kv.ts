import type { Json } from './data-sets.ts'
import { scalar } from './plain-inline.ts'

/** Reads `kv@1` line by line, knowing `docs/formats.md` and nothing of our decoder. */
export function readKv(text: string): Json {
  return Object.fromEntries(
    text.split('\n').map(line => {
      const [, key = '', value = ''] = /^("(?:[^"\\]|\\.)*"|[^:]*): (.*)$/s.exec(line) ?? []
      return [key.startsWith('"') ? String(JSON.parse(key)) : key, scalar(value)]
    }),
  )
}
