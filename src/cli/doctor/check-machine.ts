import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import { readPipelineConfig } from '../../config/pipeline.ts'
import { ConfigError } from '../../config/read-toml.ts'
import { decodeOperation } from '../../core/operations/decode.ts'
import { encodeOperation } from '../../core/operations/encode.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** The first version that has everything that is used. */
const LEAST_NODE = 24

export function checkNode(version: string): Finding {
  const major = Number.parseInt(version.replace(/^v/, ''), 10)
  if (major >= LEAST_NODE) return ok('node', version)
  return fail('node', version, `use Node ${LEAST_NODE} or later: https://nodejs.org`)
}

/** The configuration that `serve` would have here; `null` if it would not start. */
export function checkConfig(env: Env): readonly [Finding, Config | null] {
  const file = env['HAVERSACK_CONFIG']
  try {
    const config = loadConfig({ env, insecure: true })
    return [ok('configuration', file ? `${file} is valid` : 'no file; defaults'), config]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [fail('configuration', error.message, 'see config.example.toml'), null]
  }
}

/** Whether the store could be written. */
export function checkStore({ data_dir }: Config): Finding {
  const folder = resolve(data_dir)
  let nearest = folder
  while (!existsSync(nearest)) nearest = dirname(nearest)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
  } catch {
    return fail(
      'store',
      `${nearest} may not be written`,
      'set HAVERSACK_DATA_DIR to another folder',
    )
  }
  return ok('store', nearest === folder ? `${folder} can be written` : `${folder} will be made`)
}

/** Whether a result comes back from its encoding, and how long both took. */
export function checkEncoding(): Finding {
  const rows = Array.from({ length: 20 }, (_, id) => ({ id, name: `name ${id}`, open: true }))
  const content = JSON.stringify(rows)
  const context = createLocalContext()
  const started = performance.now()
  const { answer } = encodeOperation.run(encodeOperation.request.parse({ content }), context)
  const request = { content: answer.content, format: answer.format }
  const back = decodeOperation.run(decodeOperation.request.parse(request), context).answer
  const ms = (performance.now() - started).toFixed(1)
  const { baseline, final } = answer.tokens
  if (back.content === content) return ok('encoding', `${baseline} → ${final} tokens in ${ms} ms`)
  return fail('encoding', 'a result did not come back', 'install the package again')
}

/** What is done about pauses: clearing, or a longer life. Nothing is found if a file is wrong. */
export function checkCacheLife(config: Config): readonly Finding[] {
  try {
    const { clearing, cache_life: ours } = readPipelineConfig(config)
    const mayClear = clearing.enabled === true
    const mayClearOwn = clearing.enabled === 'auto' && config.proxy.redeem === 'auto'
    const lives = [
      ...(ours.life === 'client' ? [] : [`life = "${ours.life}"`]),
      ...(ours.pings === 0 ? [] : [`pings = ${ours.pings}`]),
    ].join(', ')
    if (lives === '') {
      const clears = mayClear || mayClearOwn
      return [ok('pauses', clears ? 'old results are cleared' : 'nothing is done about them')]
    }
    if (!mayClear && !mayClearOwn) return [ok('pauses', `cache_life: ${lives}`)]
    const whose = 'is in force only for conversations that clearing declines'
    const advice = 'clearing.enabled = false, or leave cache_life as it is by default'
    return [warn('pauses', `cache_life: ${lives} ${whose}`, advice)]
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}
