import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { EndedPasses } from '../access/ended-passes.ts'
import type { Config } from '../config/config.ts'
import { upstreamsOf } from '../config/upstreams.ts'
import type { UiSource } from '../http/context.ts'
import type { Logger } from '../observability/logger.ts'
import type { Gauges } from '../observability/metrics.ts'
import { loadSecret, SecretFileError } from '../runtime/secret-file.ts'

/** In the data folder. */
const SECRET_FILE = 'ui.key'
const ENDED_FILE = 'ui.ended'
const SECRET_BYTES = 32

/** What the page shows of the service; absent if it has no ledger to show. */
export function uiSource(
  config: Pick<Config, 'ledger' | 'proxy' | 'keys_file' | 'data_dir'>,
  gauges: Gauges,
  logger: Pick<Logger, 'warn'>,
): { readonly ui?: UiSource } {
  const { ledger, proxy, keys_file } = config
  if (!ledger.enabled) return {}
  return {
    ui: {
      gauges,
      upstreams: upstreamsOf(proxy).map(({ place, url }) => ({
        path: place,
        host: new URL(url).host,
      })),
      passes: passes(config, logger),
      ...(keys_file === undefined ? {} : { keysFile: keys_file }),
    },
  }
}

/** Without a file that can be used, passes end with the process. Without keys there are none. */
function passes(
  { data_dir, keys_file }: Pick<Config, 'keys_file' | 'data_dir'>,
  logger: Pick<Logger, 'warn'>,
): UiSource['passes'] {
  const ended = (file: string | null) =>
    new EndedPasses({
      file,
      now: Date.now,
      onUnwritten: err => logger.warn({ err }, 'a reader who left the page is out here only'),
    })
  const own = { secret: randomBytes(SECRET_BYTES), ended: ended(null) }
  if (keys_file === undefined) return own
  try {
    const secret = loadSecret(join(data_dir, SECRET_FILE), SECRET_BYTES)
    return { secret, ended: ended(join(data_dir, ENDED_FILE)) }
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    logger.warn({ err: error }, 'readers of the page have to log in again after a restart')
    return own
  }
}
