import { expect, it } from 'vitest'
import { decideAccess } from '../../../domain/access/decide.ts'
import { ROLE_TABLE, ROLE_TABLE_VERSION, ROLES } from '../../../domain/access/rights.ts'
import { type AccessState, evolveAccess } from '../../../domain/access/state.ts'
import { canonicalText } from '../../../domain/log/canonical.ts'
import { sha256 } from '../../../domain/log/ids.ts'

/** The events that this program records at its start after a program with this table had begun access. */
function recordedOver(roles: object, version?: number) {
  const body = { roles, ...(version !== undefined && { version }) }
  const begun = { type: 'access_begun', body, bodyHash: 'a'.repeat(64) } as Parameters<typeof evolveAccess>[1]
  const state: AccessState = evolveAccess(null, begun)
  const events: unknown[] = []
  const emit = (type: string, given: object) => events.push({ type, ...given })
  decideAccess(state, { kind: 'define_roles' }, emit, { now: 0 })
  return events
}

const others = { ...ROLE_TABLE, viewer: ['runs.read'] }

it('the table of an older program is replaced, and that of a newer one stays', () => {
  const now = { type: 'roles_changed', roles: ROLE_TABLE, version: ROLE_TABLE_VERSION }
  for (const version of [undefined, ...(ROLE_TABLE_VERSION > 1 ? [1] : [])])
    expect(recordedOver(others, version)).toEqual([now])
  expect(recordedOver(others, ROLE_TABLE_VERSION + 1)).toEqual([])
  expect(recordedOver(ROLE_TABLE)).toEqual([])
})

it('a changed table has a higher version', () => {
  const hash = sha256(canonicalText(ROLES.map((role) => [role, [...ROLE_TABLE[role]]])))
  const why = 'the table of roles changed: increase ROLE_TABLE_VERSION, then write the hash here'
  expect({ version: ROLE_TABLE_VERSION, hash }, why).toEqual({
    version: 1,
    hash: 'a315eb9e44bd2fc618cfe3a509ecd2f62d793457144d29d185d7024c150d154d',
  })
})
