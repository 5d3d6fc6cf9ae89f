import type { AccessEvent } from '../../domain/access/events.ts'
import { idOf } from '../../domain/log/owner.ts'
import { type Change, changesIn } from '../engine/changes/change.ts'
import type { Projected } from '../engine/changes/projection.ts'
import { actorText } from '../engine/text.ts'
import type { accessTables } from './tables.ts'

const { put, set } = changesIn<typeof accessTables>()

/** Changes of `principals`, `role_changes`, `access_keys` and `access_uses`. */
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
    case 'request_refused': {
      const { principal, operation, run, code, count } = event.body
      return use({ principal, operation, run_id: run, reason: code }, count)
    }
    case 'login_failed': {
      const { key, reason, address, count } = event.body
      return use({ key, reason, address }, count)
    }
    default:
      return []
  }
}
