/** How we authorize ourselves at a server, as the configuration states it. */
export interface OAuthTerms {
  /** `client_credentials` needs no user: the client's own secret or key is enough. */
  readonly grant: 'authorization_code' | 'client_credentials'
  /** Only a client that was registered beforehand has it. */
  readonly clientId?: string | undefined
  /** Read whenever it is needed, so that it can be replaced. */
  readonly clientSecret?: (() => string) | undefined
  /** A private key (PKCS #8, PEM) that signs assertions in place of a secret. */
  readonly clientKey?: (() => string) | undefined
  readonly clientKeyAlg: string
  /** Where a document describes us: it is our client id if the authorization server takes those. */
  readonly clientMetadataUrl?: string | undefined
  /** Asked for in any case, separated by blanks. */
  readonly scope?: string | undefined
  /** The only authorization server that may be used. */
  readonly issuer?: string | undefined
}
