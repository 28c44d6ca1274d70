/** What a request says that profiles are found by. */
export interface ProfileQuery {
  readonly model?: string | undefined
  readonly tokenizer?: string | undefined
  /** The endpoint: the tool's name. */
  readonly tool?: string | undefined
}
