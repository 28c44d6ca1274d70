/** The fields of a request by which profiles are found. */
export interface ProfileQuery {
  readonly model?: string | undefined
  readonly tokenizer?: string | undefined
  /** The endpoint: the tool's name. */
  readonly tool?: string | undefined
}
