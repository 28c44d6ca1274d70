export type Env = Readonly<Record<string, string | undefined>>

/** The process's environment: read here and nowhere else. */
export function processEnv(): Env {
  return process.env
}
