import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { z } from 'zod'
import type { ModelLayers, Provider } from '../core/enrich/models.ts'
import { toolModelSchema } from '../core/enrich/value-model.ts'
import type { Config } from './config.ts'
import { minedModelsOf } from './mined-models.ts'

/** The models that are built in; the package has them beside its code. */
const FILE = new URL('../../models.toml', import.meta.url)

const name = z.string().min(1)

const modelFile = z.strictObject({
  provider: z.array(
    z.strictObject({
      servers: z.array(name).optional(),
      /** Stated once for all models of the provider. */
      rate_limit_host: name.optional(),
      model: z.array(toolModelSchema.extend({ tools: z.array(name) })),
    }),
  ),
})

let known: readonly Provider[] | undefined

/** The models of `models.toml`, read once. @throws ZodError if the file is not one of models */
export function shippedModels(): readonly Provider[] {
  known ??= modelFile
    .parse(parse(readFileSync(FILE, 'utf8')))
    .provider.map(({ servers, model: models, ...host }) => ({
      ...(servers !== undefined && { servers }),
      models: Object.fromEntries(
        models.flatMap(({ tools, ...model }) => tools.map(tool => [tool, { ...model, ...host }])),
      ),
    }))
  return known
}

/** All that is stated of tools under a configuration. Those of the package are read when needed. */
export function modelLayers({ enrichment, tools }: Pick<Config, 'enrichment' | 'tools'>) {
  return {
    get shipped() {
      return shippedModels()
    },
    mined: minedModelsOf({ enrichment }),
    user: tools,
  } satisfies ModelLayers
}
