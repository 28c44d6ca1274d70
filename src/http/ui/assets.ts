import { readFileSync } from 'node:fs'

/** A file that the browser fetches. */
interface Asset {
  readonly media: string
  readonly text: string
}

const FOLDER = new URL('../../ui/assets/', import.meta.url)

/** The page's own files, read when the first is asked for. */
export function readAssets(): Readonly<Record<string, Asset>> {
  const read = (name: string, media: string) => ({
    media,
    text: readFileSync(new URL(name, FOLDER), 'utf8'),
  })
  return {
    'style.css': read('style.css', 'text/css; charset=utf-8'),
    'live.js': read('live.js', 'text/javascript; charset=utf-8'),
    'icon.svg': read('icon.svg', 'image/svg+xml'),
  }
}
