/** The tool by which a model fetches what was left out, as the gateway and the proxies offer it. */
export const RETRIEVE_TOOL = 'haversack_retrieve'

/** With the schema at most 205 tokens: each session of each agent pays for them. */
export const RETRIEVE_DESCRIPTION =
  'Fetch what "> [… not shown | hash=H]" left out, or "> [ref H …]" repeats. ' +
  'A line that begins with "\\> [" is content.'

/** The JSON schema of its arguments. */
export const RETRIEVE_SCHEMA = {
  type: 'object',
  properties: {
    hash: { type: 'string', description: 'H of that line; alone: what is not shown' },
    all: { type: 'boolean', description: 'The whole' },
    query: { type: 'string', description: 'Words to search; hash optional' },
    lines: { type: 'string', description: '40-80, 40- or -20; as printed' },
    grep: { type: 'string', description: 'Text in the lines' },
    context: { type: 'integer', description: 'Lines around it' },
    ignore_case: { type: 'boolean' },
    path: {
      type: 'string',
      description: 'JSON path: $.items[3:9]; lines too',
    },
  },
}
