import { z } from 'zod'
import { DEFAULT_PIPELINE } from './default-pipeline.ts'
import { section } from './section.ts'

/** How briefly the model shall write; `balanced` asks for nothing. */
const VERBOSITY_LEVELS = ['balanced', 'concise', 'terse', 'minimal'] as const

/** Efforts of reasoning, from the least on, as vendors call them. */
export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

const effort = z.enum(EFFORTS)

/** Section `steering`: fewer tokens that models write; see `docs/guide/cache-life.md`. */
export const steering = section(DEFAULT_PIPELINE.steering, {
  verbosity: z.enum(VERBOSITY_LEVELS),
  /** The most effort, constant in a conversation; absent: as its client asks. */
  effort: effort.optional(),
  /** For turns that only continue after results without an error; opens a new cache. */
  mechanical_effort: effort.optional(),
  /** For all other turns, if there is a `mechanical_effort`. */
  base_effort: effort.optional(),
}).refine(
  ({ mechanical_effort, base_effort }) =>
    mechanical_effort === undefined || base_effort !== undefined,
  { path: ['base_effort'], message: 'mechanical_effort needs a base_effort' },
)

/** Section `cache_align`: prompts that providers' caches find again. */
export const cacheAlign = section(DEFAULT_PIPELINE.cache_align, {
  /** Whether tools are sent in one order and spelling. */
  normalise: z.boolean(),
  /** Whether models at Anthropic begin without tools that their agent did not call lately. */
  defer: z.boolean(),
})

/** Section `cache_life`: what requests ask of providers' caches; see `docs/guide/cache-life.md`. */
export const cacheLife = section(DEFAULT_PIPELINE.cache_life, {
  /** Whether requests without a cache breakpoint get one. */
  place: z.boolean(),
  /** Hosts that take it, beside Anthropic's; with a port if it is not the usual one. */
  hosts: z.array(z.string().min(1).max(256)).max(100),
  /** How long Anthropic's cache shall keep a conversation; `client`: as its client asks. */
  life: z.enum(['client', '1h', 'auto']),
  /** What pings and steps to an hour may cost, as a share of what a conversation's input has. */
  budget: z.number().min(0).max(0.5),
  /** How long OpenAI shall keep prompts of models whose cache costs the same for a day. */
  openai: z.enum(['client', '24h']),
  /** How often a pause is bridged by asking for nothing. */
  pings: z.int().min(0).max(2),
})

export type Steering = z.output<typeof steering>
