import './import-directly.ts'
import './equal-bytes.ts'
import fc from 'fast-check'
import { runs, SEED } from './runs.ts'

/** For properties that name no number of runs. The seed is the same for all of them. */
fc.configureGlobal({ numRuns: runs(100), seed: SEED })
