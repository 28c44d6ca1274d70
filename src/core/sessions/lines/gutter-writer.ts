import {
  continuedKind,
  createGutter,
  NONE,
  readGutter,
  writeGutter,
} from '../../formats/gutter/byte-gutter.ts'
import type { RunGutter } from './compare-lines.ts'
import type { GutterRewriter } from './earlier-text.ts'

/**
 * What gutters become in a run.
 * @param before the line before the run, whose gutter may be continued
 */
export function gutterWriter(gutter: RunGutter, before: string): GutterRewriter {
  if (gutter.kind === 'dropped') return () => ''
  if (gutter.kind === 'kept') {
    const { shift } = gutter
    return (old, path) => {
      if (old.kind === NONE) return ''
      const number = old.number + shift
      return number < 0 ? null : writeGutter(old, path, number, old.kind)
    }
  }
  const bytes = Buffer.from(before, 'utf8')
  const model = createGutter()
  readGutter(bytes, 0, bytes.length, model)
  const kind = continuedKind(model.kind, gutter.dashes)
  if (kind === NONE) return () => null
  const path = bytes.toString('utf8', 0, Math.max(0, model.numberStart - 1))
  let { number } = model
  return () => writeGutter(model, path, ++number, kind)
}
