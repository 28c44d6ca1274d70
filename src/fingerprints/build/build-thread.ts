import { ownThread } from '../../threads/own-thread.ts'
import { buildFingerprints } from './build-fingerprints.ts'

const { port, data } = ownThread<{ readonly dataDir: string }>()
port.postMessage(await buildFingerprints(data.dataDir, Date.now()))
