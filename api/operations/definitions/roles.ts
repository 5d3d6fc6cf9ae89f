import type { RoleDefinition } from '../../../domain/tree/spec.ts'

/** A role for runs, with defaults for requests. */
export interface KnownRole {
  /** The name for requests. */
  readonly name: string
  /** The file of a user's role. Null: built in. */
  readonly file: string | null
  readonly definition: RoleDefinition
  /** Null: the default of all runs. */
  readonly model: string | null
  /** In ms. Null: no limit. */
  readonly wallClockMs: number | null
}

/** All roles, and a sentence for each unusable file. */
export interface KnownRoles {
  readonly roles: readonly KnownRole[]
  readonly faults: readonly string[]
}
