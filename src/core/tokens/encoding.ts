/** The public vocabularies that are counted exactly. */
export type Encoding = 'o200k_base' | 'cl100k_base'

export const ENCODINGS = ['o200k_base', 'cl100k_base'] as const satisfies readonly Encoding[]
