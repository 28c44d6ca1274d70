/** Exit codes of the command line and of a service process. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const
