import { ERASED } from '../calls/events/residue.ts'
import { defineKind } from '../stream/define-kind.ts'
import { decideAccess } from './decide.ts'
import { accessBodies } from './events.ts'
import { ACCESS_FOLD, accessDigest, evolveAccess } from './state.ts'

/** The id of the stream of principals, roles, keys and rules: `access-rights`. */
export const RIGHTS_ID = 'rights'
/** The id of the stream of audited reads, refused requests, logins and sessions: `access-uses`. */
export const USES_ID = 'uses'
/** The id of the stream of retention and legal holds, also where access is off: `access-keeping`. */
export const KEEPING_ID = 'keeping'

/** Who may do what, and who tried, as one kind of stream. */
export const access = defineKind({
  kind: 'access',
  noun: 'access',
  bodies: accessBodies,
  fold: ACCESS_FOLD,
  evolve: evolveAccess,
  decide: decideAccess,
  digest: accessDigest,
  // Names of people, their addresses and reasons can be erased. Ids remain, because facts of other streams name them, and
  // so do the subjects at issuers: without them a removed person could sign in again as a new principal.
  residues: {
    principal_added: (body) => ({ ...body, name: ERASED }),
    principal_removed: (body) => ({ ...body, reason: null }),
    key_revoked: (body) => ({ ...body, reason: null }),
    login_failed: (body) => ({ ...body, address: null }),
    hold_set: (body) => ({ ...body, reason: ERASED }),
    hold_lifted: (body) => ({ ...body, reason: null }),
    signed_in: (body) => ({ ...body, address: null }),
    signed_out: (body) => ({ ...body, address: null }),
    key_used_first_from: (body) => ({ ...body, address: null }),
  },
})
