import { readFileSync } from 'node:fs'

// Loaded before a process begins, in each of its threads: its clock is ahead by as many
// milliseconds as a file says.
const system = Date.now
Date.now = () => system() + Number(readFileSync(process.env['TEST_CLOCK_FILE'], 'utf8'))
