import { z } from 'zod'

/** A text as it is, or where it is: `env:NAME`, `file:PATH`. */
export const secretText = z.string().min(1).max(8_192)

const headerName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/)

/** Headers that frame a request, or carry our own key. */
const NEVER_FORWARDED =
  /^(?:x-haversack-.*|host|connection|content-.*|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*|accept|accept-encoding|cookie|origin|referer|forwarded|x-forwarded-.*|mcp-.*|last-event-id)$/i

const noAuth = z.strictObject({ kind: z.literal('none') })

const headersAuth = z.strictObject({
  kind: z.literal('headers'),
  headers: z.record(headerName, secretText),
})

/** Headers of the client's own request, by name. */
const forwardAuth = z.strictObject({
  kind: z.literal('forward'),
  headers: z
    .array(
      headerName
        .refine(name => !NEVER_FORWARDED.test(name), { message: 'is never forwarded' })
        .transform(name => name.toLowerCase()),
    )
    .min(1)
    .max(16),
})

/** We get a token for the server ourselves: `haversack mcp login`. */
const oauthAuth = z
  .strictObject({
    kind: z.literal('oauth'),
    grant: z.enum(['authorization_code', 'client_credentials']).default('authorization_code'),
    client_id: z.string().min(1).max(2_048).optional(),
    client_secret: secretText.optional(),
    /** A private key (PKCS #8, PEM) in place of a secret. */
    client_key: secretText.optional(),
    client_key_alg: z.enum(['ES256', 'ES384', 'RS256', 'PS256']).default('ES256'),
    client_metadata_url: z.url({ protocol: /^https$/ }).optional(),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/))
      .max(100)
      .default([]),
    issuer: z.url({ protocol: /^https?$/ }).optional(),
    callback_port: z.int().min(1).max(65_535).optional(),
  })
  .refine(({ grant, client_id }) => grant !== 'client_credentials' || client_id !== undefined, {
    message: 'client_credentials needs client_id',
  })
  .refine(
    ({ client_id, client_secret, client_key }) =>
      client_id !== undefined || (client_secret === undefined && client_key === undefined),
    { message: 'a secret or key needs client_id' },
  )

/** How we, or the client, authorize ourselves at a server. */
export const mcpAuth = z.discriminatedUnion('kind', [noAuth, headersAuth, forwardAuth, oauthAuth])

export type OAuthConfig = z.output<typeof oauthAuth>
