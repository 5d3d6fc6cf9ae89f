import { entries } from '../stream/table.ts'
import type { Role } from './rights.ts'
import { type AccessState, allRolesOf, idsOfPerson, RECOVERY, rightsOfRoles } from './state.ts'

/** A principal that could have decided about a call. */
export interface Approver {
  readonly principal: string
  readonly name: string
  readonly roles: readonly Role[]
  /** True: the separation of duties excluded the principal. */
  readonly excluded: boolean
}

/**
 * The principals with the right to decide about a call, in order of their ids, then the owner of the data folder.
 * `requesters`: who had asked for the run, as actors such as `user:ann`. `needed`: the number of approvers; several must be
 * people. Null: access was off, so everybody could.
 */
export function couldApprove(
  state: AccessState | null,
  requesters: ReadonlySet<string>,
  needed: number,
): readonly Approver[] | null {
  if (!state?.begun) return null
  const excluded = (principal: string) =>
    state.separation && [...idsOfPerson(state, principal)].some((id) => requesters.has(`user:${id}`))
  const found = entries(state.principals)
    .filter(
      (one) =>
        !one.removed &&
        (needed === 1 || one.kind === 'person') &&
        rightsOfRoles(state, allRolesOf(one)).has('runs.decide'),
    )
    .map((one) => ({ principal: one.id, name: one.name, roles: allRolesOf(one), excluded: excluded(one.id) }))
    .sort((a, b) => (a.principal < b.principal ? -1 : 1))
  if (needed > 1) return found
  const owner = { principal: RECOVERY, name: 'the owner of the data folder', roles: [], excluded: excluded(RECOVERY) }
  return [...found, owner]
}
