#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

enableCompileCache()
const { runCli } = await import('./cli/run.ts')
process.exitCode = await runCli(process.argv.slice(2))
