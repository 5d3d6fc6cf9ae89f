import type { TableSpec } from '../engine/schema/columns.ts'

/** Principals, their roles and keys over time, audited reads, refused requests and failed logins. */
export const accessTables = {
  principals: {
    columns: {
      access: 'text!',
      principal: 'text!',
      /** person, service. */
      kind: 'text!',
      name: 'text!',
      issuer: 'text',
      subject: 'text',
      added_at: 'text!',
      added_by: 'text!',
      removed_at: 'text',
      removed_by: 'text',
      reason: 'text',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['principal'],
    kind: 'access',
    owner: 'access',
  },
  role_changes: {
    columns: {
      access: 'text!',
      revision: 'integer!',
      principal: 'text!',
      /** viewer, auditor, operator, approver, admin. */
      role: 'text!',
      /** granted, taken. */
      change: 'text!',
      changed_at: 'text!',
      changed_by: 'text!',
      incomplete_from: 'integer',
    },
    key: ['revision'],
    kind: 'access',
    owner: 'access',
    indexes: [['principal', 'role']],
  },
  access_keys: {
    columns: {
      access: 'text!',
      key: 'text!',
      principal: 'text!',
      /** JSON list; null: all rights of the principal. */
      rights: 'text',
      expires_at: 'text',
      created_at: 'text!',
      created_by: 'text!',
      revoked_at: 'text',
      revoked_by: 'text',
      reason: 'text',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['key'],
    kind: 'access',
    owner: 'access',
    indexes: [['principal']],
  },
  access_uses: {
    columns: {
      access: 'text!',
      revision: 'integer!',
      /** read_audited, request_refused, login_failed. */
      type: 'text!',
      principal: 'text',
      key: 'text',
      operation: 'text',
      run_id: 'text',
      /** A problem's code, or why a login failed. */
      reason: 'text',
      address: 'text',
      count: 'integer!',
      recorded_at: 'text!',
      incomplete_from: 'integer',
    },
    key: ['access', 'revision'],
    kind: 'access',
    owner: 'access',
    indexes: [['run_id'], ['principal']],
  },
} as const satisfies Record<string, TableSpec>
