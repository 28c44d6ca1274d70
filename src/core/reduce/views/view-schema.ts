import { z } from 'zod'

/** Longest glob, and the most of them in one rule. */
const MAX_GLOB_CHARS = 200
const MAX_GLOBS = 200
/** Most rules of one level, and views of one file. */
const MAX_RULES = 64
const MAX_VIEWS = 500

const glob = z.string().min(1).max(MAX_GLOB_CHARS)
const globs = z.array(glob).min(1).max(MAX_GLOBS)
const NO_WHOLE = /^(?:\*{1,2}\.)*\*{1,2}$/

/** A path of fields; `*` is any part of a name, `**` any fields. Items of lists are no step. */
const path = glob.refine(text => text.split('.').every(segment => segment !== ''), {
  message: 'has an empty step',
})
const paths = z.array(path).min(1).max(MAX_GLOBS)
const dropped = z
  .array(path.refine(text => !NO_WHOLE.test(text), { message: 'drops everything' }))
  .min(1)
  .max(MAX_GLOBS)

/** A place without wildcards, for figures that are compared. */
const place = z.string().regex(/^[^.*]+(?:\.[^.*]+)*$/, 'must be a path without wildcards')

/** A rule is not applied while a figure is below a share of another. */
const unless = z.strictObject({ field: place, of: place, below: z.number().min(0).max(1) })

const scalar = z.union([z.string().max(MAX_GLOB_CHARS), z.number(), z.boolean()])
const constants = z
  .record(path, scalar)
  .refine(record => Object.keys(record).length > 0, { message: 'names no field' })

/** One operation, or several of the same condition. */
const rule = z
  .strictObject({
    drop: dropped.optional(),
    /** Only these fields stay of the objects at `in` (absent: the outermost ones). */
    keep: paths.optional(),
    in: path.optional(),
    /** Fields that are null, `""`, `[]` or `{}` wherever a list has them. */
    empty: paths.optional(),
    constant: constants.optional(),
    /** Lists that are only counted. */
    count: dropped.optional(),
    /** Lists of which the ends stay, and items unlike the others. */
    items: paths.optional(),
    first: z.int().min(0).max(1_000).default(3),
    last: z.int().min(0).max(1_000).default(1),
    outlying: z.boolean().default(true),
    /** Texts of which the first characters stay. */
    text: paths.optional(),
    chars: z.int().min(20).max(100_000).default(400),
    unless: unless.optional(),
  })
  .refine(
    each =>
      [each.drop, each.keep, each.empty, each.constant, each.count, each.items, each.text].some(
        operation => operation !== undefined,
      ),
    { message: 'has no operation: drop, keep, empty, constant, count, items or text' },
  )
  .refine(({ keep, in: within }) => within === undefined || keep !== undefined, {
    path: ['in'],
    message: 'goes with keep only',
  })

const rules = z.array(rule).max(MAX_RULES).default([])

const view = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
  about: z.string().max(200).default(''),
  /** A view that is off applies only if the configuration switches it on. */
  enabled: z.boolean().default(true),
  /** Applies only if no view fits that is made for one kind of result. */
  generic: z.boolean().default(false),
  /** Names of tools, without what a proxy puts in front; absent: any. */
  tools: globs.optional(),
  /** Endpoint classes, as telemetry names them; absent: any. */
  classes: globs.optional(),
  /** Shapes, as answers name them; absent: any. */
  shapes: globs.optional(),
  /** Names of fields that must all be there, at any depth. */
  has: globs,
  standard: rules,
  /** In addition to those of `standard`. */
  compact: rules,
})

/** A file of views: plain data, so that it can be handed to a thread. */
export const viewFile = z.strictObject({
  schema_version: z.literal(1).default(1),
  view: z.array(view).max(MAX_VIEWS),
})

export type ViewData = z.output<typeof view>
export type RuleData = z.output<typeof rule>
