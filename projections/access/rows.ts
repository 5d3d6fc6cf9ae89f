import type { AccessEvent } from '../../domain/access/events.ts'
import { idOf } from '../../domain/log/owner.ts'
import { type Change, changesIn } from '../engine/changes/change.ts'
import type { Projected } from '../engine/changes/projection.ts'
import { actorText } from '../engine/text.ts'
import type { accessTables } from './tables.ts'

const { put, set } = changesIn<typeof accessTables>()

/** Changes of the tables of access. */
export function accessChanges({ header, event }: Projected<AccessEvent>): Change[] {
  if (event === null) return []
  const { revision, timestamp: at } = header
  const access = idOf(header.stream)
  const by = actorText(header.actor)
  const use = (
    columns: Partial<Record<'principal' | 'key' | 'operation' | 'run_id' | 'reason' | 'address', string | null>>,
    count: number,
  ) => [put('access_uses', { access, revision }, { type: event.type, ...columns, count, recorded_at: at })]
  switch (event.type) {
    case 'principal_added': {
      const { principal, kind, name, subject } = event.body
      const from = { issuer: subject?.issuer ?? null, subject: subject?.subject ?? null }
      return [put('principals', { principal }, { access, kind, name, ...from, added_at: at, added_by: by, revision })]
    }
    case 'principal_removed': {
      const { principal, reason } = event.body
      return [set('principals', { principal }, { removed_at: at, removed_by: by, reason, revision })]
    }
    case 'role_granted':
    case 'role_taken': {
      const { principal, role } = event.body
      const change = event.type === 'role_granted' ? 'granted' : 'taken'
      return [put('role_changes', { revision }, { access, principal, role, change, changed_at: at, changed_by: by })]
    }
    case 'principals_linked':
    case 'principals_unlinked': {
      const { principal, other, reason = null } = event.body
      const change = event.type === 'principals_linked' ? 'linked' : 'unlinked'
      const columns = { access, principal, other, change, changed_at: at, changed_by: by, reason }
      return [put('principal_links', { revision }, columns)]
    }
    case 'roles_claimed': {
      const { principal, issuer, audience, roles, issuedAt } = event.body
      const columns = { principal, issuer, audience, roles: JSON.stringify(roles), issued_at: issuedAt }
      return [put('role_claims', { revision }, { access, ...columns, claimed_at: at })]
    }
    case 'key_created': {
      const { key, principal, rights, expiresAt } = event.body
      const columns = { principal, rights: rights && JSON.stringify(rights), expires_at: expiresAt }
      return [put('access_keys', { key }, { access, ...columns, created_at: at, created_by: by, revision })]
    }
    case 'key_revoked': {
      const { key, reason } = event.body
      return [set('access_keys', { key }, { revoked_at: at, revoked_by: by, reason, revision })]
    }
    case 'read_audited': {
      const { principal, operation, run, count } = event.body
      return use({ principal, operation, run_id: run }, count)
    }
    case 'operation_requested': {
      const { principal, operation, target } = event.body
      return use({ principal, operation, reason: target }, 1)
    }
    case 'request_refused': {
      const { principal, operation, run, code, count } = event.body
      return use({ principal, operation, run_id: run, reason: code }, count)
    }
    case 'login_failed': {
      const { key, reason, address, count } = event.body
      return use({ key, reason, address }, count)
    }
    case 'key_used':
      return use({ key: event.body.key }, 1)
    case 'retention_set': {
      const { of: subject, days } = event.body
      return [put('retention', { revision }, { access, subject, days, set_at: at, set_by: by })]
    }
    case 'hold_set': {
      const { hold, of: stream, reason } = event.body
      return [put('holds', { hold }, { access, stream, reason, set_at: at, set_by: by, revision })]
    }
    case 'hold_lifted': {
      const { hold, reason } = event.body
      return [set('holds', { hold }, { lifted_at: at, lifted_by: by, lift_reason: reason, revision })]
    }
    case 'signed_in':
    case 'signed_out': {
      const { principal, key, address, count } = event.body
      return use({ principal, key, address }, count)
    }
    case 'key_used_first_from':
      return use({ key: event.body.key, address: event.body.address }, 1)
    default:
      return []
  }
}
