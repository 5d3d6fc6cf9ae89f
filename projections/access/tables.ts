import type { TableSpec } from '../engine/schema/columns.ts'

/** Principals, their roles and keys over time, audited reads, refused requests, logins, sessions, retention and holds. */
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
  principal_links: {
    columns: {
      access: 'text!',
      revision: 'integer!',
      principal: 'text!',
      other: 'text!',
      /** linked, unlinked. */
      change: 'text!',
      changed_at: 'text!',
      changed_by: 'text!',
      reason: 'text',
      incomplete_from: 'integer',
    },
    key: ['revision'],
    kind: 'access',
    owner: 'access',
    indexes: [['principal']],
  },
  role_claims: {
    columns: {
      access: 'text!',
      revision: 'integer!',
      principal: 'text!',
      issuer: 'text!',
      audience: 'text!',
      /** JSON list: the roles from then on, in place of those claimed before. */
      roles: 'text!',
      issued_at: 'text!',
      claimed_at: 'text!',
      incomplete_from: 'integer',
    },
    key: ['revision'],
    kind: 'access',
    owner: 'access',
    indexes: [['principal']],
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
      /**
       * read_audited, operation_requested, request_refused, login_failed, key_used, signed_in, signed_out,
       * key_used_first_from.
       */
      type: 'text!',
      principal: 'text',
      key: 'text',
      operation: 'text',
      run_id: 'text',
      /** A problem's code, why a login failed, or the target of a requested operation: a secret's name, a folder. */
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
  /** Each change of a retention. The last one is in force. */
  retention: {
    columns: {
      access: 'text!',
      revision: 'integer!',
      /** run, external, document, memory, store. */
      subject: 'text!',
      /** Null: texts are never erased by policy. */
      days: 'integer',
      set_at: 'text!',
      set_by: 'text!',
      incomplete_from: 'integer',
    },
    key: ['revision'],
    kind: 'access',
    owner: 'access',
    indexes: [['subject']],
  },
  holds: {
    columns: {
      access: 'text!',
      hold: 'text!',
      /** The stream whose texts must stay. That of a run's root agent stands for the whole run. */
      stream: 'text!',
      reason: 'text!',
      set_at: 'text!',
      set_by: 'text!',
      lifted_at: 'text',
      lifted_by: 'text',
      lift_reason: 'text',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['hold'],
    kind: 'access',
    owner: 'access',
    indexes: [['stream']],
  },
} as const satisfies Record<string, TableSpec>
