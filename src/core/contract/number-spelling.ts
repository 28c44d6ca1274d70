/** A JSON text that `JSON.stringify` writes as it is (ECMAScript, "JSON.rawJSON"). */
interface RawJson {
  readonly rawJSON: string
}

/** What the language has, and the compiler's library does not declare yet. */
const { rawJSON, isRawJSON, parse } = JSON as unknown as {
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
  parse(
    text: string,
    revive: (key: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown
}

/**
 * `JSON.parse` for what is written again: a number that `JSON.stringify` would spell in another
 * way, such as `1.0` or `12345678901234567890`, becomes raw JSON, which is written unchanged. The
 * fields of the outermost object are numbers in any case. Recurses with the depth of the text;
 * throws as `JSON.parse` does.
 */
export function parseKeepingSpelling(text: string): unknown {
  const value = parse(text, keepSpelling)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  for (const [key, field] of Object.entries(fields)) {
    if (isRawJSON(field)) fields[key] = Number(field.rawJSON)
  }
  return fields
}

function keepSpelling(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value
  return rawJSON(source)
}
