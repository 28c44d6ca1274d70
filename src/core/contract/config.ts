import { z } from 'zod'

/** The call that keys by tool are shown for; without one all keys are shown. */
export const configQuery = z.strictObject({
  tool: z.string().max(512).optional(),
  model: z.string().max(512).optional(),
  /** The call's arguments as JSON: they tell the class of a shell's command. */
  args: z.string().max(65_536).optional(),
})

const placed = {
  value: z.unknown(),
  layer: z.enum(['built-in', 'tuned', 'file', 'tenant', 'project']),
  /** The file's name without its folder, and the line. */
  file: z.string().optional(),
  line: z.int().optional(),
  tuned: z.strictObject({ rule: z.string(), evidence: z.string(), date: z.string() }).optional(),
}

/** How the pipeline chooses for a tenant, and which layer says so. */
export const configAnswer = z.strictObject({
  /** In force for what begins now. */
  generation: z.string(),
  /** Why the files are not in force; empty if they are. */
  faults: z.array(z.string()),
  keys: z.array(
    z.strictObject({
      key: z.string(),
      ...placed,
      /** The key that has the value, for a call. */
      from: z.string().optional(),
      losing: z.array(z.strictObject({ key: z.string(), ...placed })),
    }),
  ),
})

/** Whose configuration: a tenant's, or that of one of its projects. */
export interface ConfigOf {
  readonly tenant: string
  readonly project?: string
}

export type ConfigQuery = z.output<typeof configQuery>
export type ConfigAnswer = z.output<typeof configAnswer>
