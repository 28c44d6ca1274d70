/** Names of tenants: safe in logs, file names and headers. */
export const TENANT_NAME = /^[A-Za-z0-9][\w.-]{0,62}$/

/** The only tenant of a process that is no service. */
export const LOCAL_TENANT = 'local'
