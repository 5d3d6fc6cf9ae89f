import { z } from 'zod'
import { Hash, Instant, text } from '../log/body-parts.ts'
import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import type { Caller } from './caller.ts'
import { asksByPolicy } from './policy-engine.ts'
import { matches } from './tools/tool-patterns.ts'
import { controlKind } from './tools/tools.ts'

// Storage format: how a call was decided, the same in every event that records a decision about a call.

/**
 * `person`: the actor of the event. `standing_approval` and `permission`: the actor of the event that gave them.
 * `policy`: the run's policy alone.
 */
export const Decided = z.strictObject({
  method: z.enum(['person', 'standing_approval', 'permission', 'policy']),
  /**
   * The pattern of the standing approval, the id of the call that asked for the permission, or the rule of the policy:
   * `allowed`, `control` (a control tool), or the rule that refused the call. Absent for a person.
   */
  rule: text.optional(),
  /** SHA-256 of the policy in force, as canonical JSON. Null: keepup has no policy for this agent. */
  policyHash: Hash.nullable(),
  /** When the person was asked. Absent for the other methods. */
  askedAt: Instant.optional(),
  /** The hash of the question as the person saw it, under the salt of hashes. Absent: not known. */
  shownHash: Hash.optional(),
})
export type Decided = z.infer<typeof Decided>

const hashes = new WeakMap<object, string>()

/** The hash of a policy. Equal policies have equal hashes in every run. */
export function policyHash(policy: object): string {
  const known = hashes.get(policy)
  if (known !== undefined) return known
  const hash = sha256(canonicalText(policy))
  hashes.set(policy, hash)
  return hash
}

/** How a call was allowed that waits for no person. */
export function allowedBy(caller: Caller, toolName: string, permission: string | undefined): Decided {
  const hash = policyHash(caller.spec.policy)
  if (permission !== undefined) return { method: 'permission', rule: permission, policyHash: hash }
  const standing = caller.standing?.find((pattern) => matches(pattern, toolName))
  if (standing !== undefined && asksByPolicy(caller, toolName) !== null)
    return { method: 'standing_approval', rule: standing, policyHash: hash }
  const rule = controlKind(caller, toolName) === false ? 'allowed' : 'control'
  return { method: 'policy', rule, policyHash: hash }
}
