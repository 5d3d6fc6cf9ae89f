/** The speaker, and the key under which a repetition is recorded once. */
export interface Saying {
  readonly by?: string
  readonly key?: string
}
