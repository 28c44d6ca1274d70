/** The record's own entry, for names that clients choose: `constructor` is no entry of `{}`. */
export function own<T>(
  record: Readonly<Record<string, T>>,
  key: string | undefined,
): T | undefined {
  return key !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}
