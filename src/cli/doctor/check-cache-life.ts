import type { Config } from '../../config/config.ts'
import { readPipelineConfig } from '../../config/pipeline.ts'
import { ConfigError } from '../../config/read-toml.ts'
import { type Finding, ok, warn } from './finding.ts'

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
