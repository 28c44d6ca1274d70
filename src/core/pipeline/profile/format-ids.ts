/**
 * Every format by the name without its version, in the order of the two registries. A configuration
 * is read by them, without the formats themselves.
 */
export const FORMAT_IDS = [
  'csv',
  'json_compact',
  'tree',
  'md',
  'ndjson',
  'numbered',
  'diff',
  'prefixed',
  'templated',
  'terminal',
  'mcp',
  'strings',
] as const
