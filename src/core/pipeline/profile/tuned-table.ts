import { z } from 'zod'

/** TOML has dates of its own; `tune` writes them as texts. */
const asText = (value: unknown) => (value instanceof Date ? value.toISOString() : value)
const isoTime = z.preprocess(asText, z.iso.datetime({ offset: true }))
const isoDate = z.preprocess(asText, z.union([z.iso.date(), z.iso.datetime({ offset: true })]))

/** One line, so that tables and logs can show it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const line = z.string().regex(/^[^\x00-\x1f\x7f]*$/, 'must be one line')

/** Why a key of a tuned file has its value. */
const tunedChange = z.strictObject({
  /** Dotted, as `writeKey` writes it. */
  key: line.min(1).max(2_048),
  /** The rule that proposed it: `R1`. */
  rule: line.min(1).max(64),
  /** The figures that it was decided by, in words. */
  evidence: line.max(2_048),
  date: isoDate,
})

/**
 * Table `tuned` of `tuned/<tenant>.toml`, which is otherwise a `pipeline_config.toml`. `tune`
 * writes it, and the loader of layers refuses a file that does not have it so.
 */
export const tunedTable = z.strictObject({
  /** The version that wrote the file. */
  id: z.string().regex(/^[\w.-]{1,64}$/),
  /** Whose file it is; under the name of another tenant it is refused. Absent: not compared. */
  tenant: z.string().min(1).max(64).optional(),
  created_at: isoTime,
  /** The generation that its changes were judged against. */
  generation: z.string().max(64),
  changes: z.array(tunedChange).max(100_000).default([]),
})

export type TunedTable = z.output<typeof tunedTable>
