import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type ToolModels, toolModelSchema } from '../core/enrich/value-model.ts'
import type { Config } from './config.ts'
import { readToml } from './read-toml.ts'

/** The classes of tools that may be called ahead: only people and servers say so. */
const PERMISSIVE = ['pure', 'read_only']

const minedModel = toolModelSchema
  .refine(({ speculate }) => speculate !== true, 'mined models may forbid calls ahead, not ask')
  .refine(
    ({ side_effect_class: effect }) => effect === undefined || !PERMISSIVE.includes(effect),
    'mined models may not say that a tool only reads',
  )

const minedFile = z.strictObject({
  tools: z.record(z.string().min(1).max(512), minedModel).default({}),
})

/** By the section of the configuration that it was read with. */
const loaded = new WeakMap<Config['enrichment'], ToolModels>()

/**
 * Reads `mined.toml` in the data folder, if there is one. Returns faults, a line each.
 * @throws ConfigError for a file that cannot be read, or is no TOML
 */
export function loadMinedModels({ enrichment, data_dir }: Config): string[] {
  const file = join(data_dir, 'mined.toml')
  if (!existsSync(file)) return []
  const parsed = minedFile.safeParse(readToml(file).tree)
  if (parsed.success) loaded.set(enrichment, parsed.data.tools)
  const issues = parsed.success ? [] : parsed.error.issues
  return issues.map(
    ({ path, message }) => `${file}: ${path.map(String).join('.') || '(top level)'}: ${message}`,
  )
}

/** The models that were read with the configuration. */
export function minedModelsOf({ enrichment }: Pick<Config, 'enrichment'>): ToolModels {
  return loaded.get(enrichment) ?? NONE
}

const NONE: ToolModels = {}
