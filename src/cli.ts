#!/usr/bin/env node
import * as nodeModule from 'node:module'

/** Older ones could not even report what they lack. */
const LEAST_NODE = 24

if (Number.parseInt(process.versions.node, 10) < LEAST_NODE) {
  process.stderr.write(
    `haversack: Node ${LEAST_NODE} or newer is needed, this is ${process.version}. ` +
      `Get it from https://nodejs.org, or run: npx --package node@${LEAST_NODE} --package haversack haversack\n`,
  )
  process.exitCode = 1
} else {
  nodeModule.enableCompileCache()
  const { runCli } = await import('./cli/run-cli.ts')
  process.exitCode = await runCli(process.argv.slice(2))
}
