import { z } from 'zod'

/** How briefly the model shall write; `balanced` asks for nothing. */
const VERBOSITY_LEVELS = ['balanced', 'concise', 'terse', 'minimal'] as const

/** Efforts of reasoning, from the least on, as vendors call them. */
export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

const effort = z.enum(EFFORTS)

/** Section `steering`: fewer tokens that models write; see `docs/guide/cache-life.md`. */
export const steering = z
  .strictObject({
    verbosity: z.enum(VERBOSITY_LEVELS).default('balanced'),
    /** The most effort, constant in a conversation; absent: as its client asks. */
    effort: effort.optional(),
    /** For turns that only continue after results without an error; opens a new cache. */
    mechanical_effort: effort.optional(),
    /** For all other turns, if there is a `mechanical_effort`. */
    base_effort: effort.optional(),
  })
  .refine(
    ({ mechanical_effort, base_effort }) =>
      mechanical_effort === undefined || base_effort !== undefined,
    { path: ['base_effort'], message: 'mechanical_effort needs a base_effort' },
  )

/** Section `cache_align`: prompts that providers' caches find again. */
export const cacheAlign = z.strictObject({
  /** Whether tools are sent in one order and spelling. */
  normalise: z.boolean().default(false),
  /** Whether models at Anthropic begin without tools that their agent did not call lately. */
  defer: z.boolean().default(false),
})

/** Section `cache_life`: what requests ask of providers' caches; see `docs/guide/cache-life.md`. */
export const cacheLife = z.strictObject({
  /** Whether requests without a cache breakpoint get one. */
  place: z.boolean().default(false),
  /** Hosts that take it, beside Anthropic's; with a port if it is not the usual one. */
  hosts: z.array(z.string().min(1).max(256)).max(100).default([]),
  /** How long Anthropic's cache shall keep a conversation; `client`: as its client asks. */
  life: z.enum(['client', '1h', 'auto']).default('client'),
  /** What pings and steps to an hour may cost, as a share of what a conversation's input has. */
  budget: z.number().min(0).max(0.5).default(0.05),
  /** How long OpenAI shall keep prompts of models whose cache costs the same for a day. */
  openai: z.enum(['client', '24h']).default('client'),
  /** How often a pause is bridged by asking for nothing. */
  pings: z.int().min(0).max(2).default(0),
})

export type Steering = z.output<typeof steering>
