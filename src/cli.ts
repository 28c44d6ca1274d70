#!/usr/bin/env node
import { keepCompiled } from './config/compile-cache.ts'

keepCompiled()
const { runCli } = await import('./cli/run.ts')
process.exitCode = await runCli(process.argv.slice(2))
