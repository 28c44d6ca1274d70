import { formatId } from '../formats/json/json-format.ts'
import { JSON_FORMATS, NAMED_JSON_FORMATS } from '../formats/json/registry.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { TEXT_FORMATS } from '../formats/text/registry.ts'
import type { Reading } from '../reading/price.ts'
import { CHANGES_FORMAT } from '../sessions/near/changes-format.ts'
import { LINES_FORMAT, NEAR_FORMAT, REFERENCE_FORMAT } from '../sessions/turn/decode-references.ts'
import { STRING_LINES_FORMAT } from '../sessions/turn/string-lines.ts'
import { createJsonLayer, createTextLayer } from './format-layer.ts'
import { byPrice, type Layer } from './layer.ts'
import type { Profile } from './profile/resolve.ts'
import { type ProfiledFormats, profiledFormats } from './profiled-formats.ts'

/**
 * The layers in order. The first one with a candidate that passes the gate is used, or L3 if none
 * has one. In L2 both kinds of formats compete by price.
 */
export function layersFor({ encoding, preferred }: Profile): readonly Layer[] {
  const { values, texts } = profiledFormats(encoding)
  const { reading } = encoding
  const all = joinLayers(
    createJsonLayer([...values, ...NAMED_JSON_FORMATS], reading),
    createTextLayer(texts, values, reading),
  )
  if (preferred === undefined) return [all]
  return [createTemplateLayer(preferred, { values, texts }, reading), all]
}

/**
 * L1: the one format that is preferred for this endpoint. If the gate refuses its candidate, L2
 * follows.
 * @param id its name without the version
 */
function createTemplateLayer(
  id: string,
  { values, texts }: ProfiledFormats,
  reading: Reading,
): Layer {
  const named = <T extends { readonly id: string }>(formats: readonly T[]) =>
    formats.filter(format => format.id === id).map(format => ({ ...format, onlyNamed: false }))
  const preferred = named(texts)
  const layer =
    preferred.length > 0
      ? createTextLayer(preferred, values, reading)
      : createJsonLayer(named(values), reading)
  return { id: 'L1', propose: input => layer.propose(input) }
}

/** One layer with the candidates of both. If two cost the same, a value format's is preferred. */
function joinLayers(values: Layer, texts: Layer): Layer {
  return {
    id: values.id,
    propose(input) {
      const b = texts.propose(input)
      if (b.candidates.some(({ outdoesValues }) => outdoesValues)) return b
      const a = values.propose(input)
      return {
        candidates: byPrice([...a.candidates, ...b.candidates]),
        baseline: a.baseline,
        bigger: [...a.bigger, ...b.bigger],
        declined: [...a.declined, ...b.declined],
      }
    },
  }
}

/** Formats of answers that refer to earlier results, by name: L0. */
const REFERENCES = [
  REFERENCE_FORMAT,
  CHANGES_FORMAT,
  NEAR_FORMAT,
  LINES_FORMAT,
  STRING_LINES_FORMAT,
]

/** Names that a request may list under `formats`, in the order of preference. */
export const FORMAT_NAMES: readonly string[] = [
  ...REFERENCES.map(nameOf),
  ...JSON_FORMATS.map(n => n.id),
  ...NAMED_JSON_FORMATS.map(n => n.id),
  ...TEXT_FORMATS.map(n => n.id),
  PASSTHROUGH,
]

/** The same names, and each with its version. */
export const KNOWN_FORMATS: ReadonlySet<string> = new Set([
  ...FORMAT_NAMES,
  ...REFERENCES,
  ...JSON_FORMATS.map(formatId),
  ...NAMED_JSON_FORMATS.map(formatId),
  ...TEXT_FORMATS.map(formatId),
])

/**
 * Whether a request allows references of a format. A request that lists `formats` must name it.
 */
export function allowsReference(formats: readonly string[] | undefined, format: string): boolean {
  return formats === undefined || formats.includes(format) || formats.includes(nameOf(format))
}

function nameOf(format: string): string {
  return format.slice(0, format.indexOf('@'))
}
