import { parentPort, workerData } from 'node:worker_threads'
import { buildFingerprints } from './build-fingerprints.ts'

const { dataDir } = workerData as { readonly dataDir: string }
parentPort?.postMessage(await buildFingerprints(dataDir, Date.now()))
