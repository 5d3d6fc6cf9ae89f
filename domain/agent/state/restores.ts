/** A restore whose end is not recorded. */
export interface Restoring {
  /** Revision of the request. */
  readonly since: number
  readonly tree: string
  readonly replaces: string
}
