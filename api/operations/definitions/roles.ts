import type { RoleDefinition } from '../../../domain/agent/definition/spec.ts'

/** A role that runs may ask for, and what it sets for runs that do not. */
export interface KnownRole {
  /** The name that a request uses. */
  readonly name: string
  /** The file of a user's role; null: it is built in. */
  readonly file: string | null
  readonly definition: RoleDefinition
  /** Null: the default of all runs. */
  readonly model: string | null
  /** In ms; null: no limit. */
  readonly wallClockMs: number | null
}

/** All roles, and a sentence for each file that cannot be used. */
export interface KnownRoles {
  readonly roles: readonly KnownRole[]
  readonly faults: readonly string[]
}
