import { approversOf } from '../../calls/approvers.ts'
import type { Call } from '../../calls/call.ts'
import { failCall } from '../../calls/decide/endings.ts'
import { CommandRejected } from '../../calls/errors.ts'
import type { PlannedCall } from '../../calls/events/event-parts.ts'
import { canonicalTool } from '../../calls/tools/tool-patterns.ts'
import type { Actor } from '../../log/envelope.ts'
import { echo } from '../../log/issues.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import { controlToolNamed } from '../control/registry.ts'
import { endedPermissions } from '../rules/permission-end.ts'
import { callsOf } from '../state/state.ts'
import type { RevokePermission } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'

// The ends of permissions are recorded, so that the fold needs no clock.

/**
 * Throws CommandRejected SPEC_REFUSED if one of these tools asks a person, or several people, each time, because a
 * standing approval cannot answer for them. `*` and prefixes do not cover such tools.
 */
export function refuseStanding(spec: AgentSpec, tools: readonly string[]): void {
  const refuse = (why: string): never => {
    throw new CommandRejected('SPEC_REFUSED', `approve: ${why}; leave it out, and decide on each request`)
  }
  const own = tools.find((name) => controlToolNamed(name)?.approval !== undefined)
  if (own !== undefined) refuse(`${own} asks a person each time`)
  const named = spec.tools.filter(({ name }) => tools.some((pattern) => canonicalTool(pattern) === name))
  const several = named.find(({ name, effect }) => approversOf({ spec }, { toolName: name, effect }) !== null)
  if (several !== undefined) refuse(`several people must approve each call of ${several.name}`)
}

export function endPermissions(d: DecisionBuilder): void {
  for (const ended of endedPermissions(d.state, d.context.now)) {
    d.emit('permission_ended', ended)
    refuseWaiting(d, ended.permission, ended.why)
  }
}

/** A person revokes a permission. Running calls finish. Throws CommandRejected PERMISSION_NOT_IN_FORCE. */
export function revokePermission(d: DecisionBuilder, { toolCallId, reason }: RevokePermission): void {
  if (d.state.permissions?.some(({ id }) => id === toolCallId) !== true)
    throw new CommandRejected(
      'PERMISSION_NOT_IN_FORCE',
      `${echo(toolCallId)} has no permission in force; it may have ended, or was never granted`,
    )
  const actor: Actor = { ...d.context.by, kind: 'approver' }
  d.emit('permission_revoked', { permission: toolCallId, ...(reason === undefined ? {} : { reason }) }, { actor })
  refuseWaiting(d, toolCallId, 'revoked')
}

/** Refuses calls that use an ended permission and have not begun. */
function refuseWaiting(d: DecisionBuilder, permission: string, why: string): void {
  for (const call of callsOf(d.state)) {
    if (call.permission !== permission || !['planned', 'approval', 'approved'].includes(call.stage.at)) continue
    const message = `the permission for ${call.toolName} has ended (${why}) before the call began; ask for another one`
    failCall(d, call, { code: 'PERMISSION_DENIED', rule: 'permission_ended', message })
  }
}

export function endUsed(d: DecisionBuilder, planned: readonly PlannedCall[]): void {
  for (const [index, { permission }] of planned.entries()) {
    const used = d.state.permissions?.find(({ id, scope }) => id === permission && scope === 'call')
    if (used === undefined) continue
    d.emit('permission_ended', { permission: used.id, why: 'used' }, { toolCallId: callsOf(d.state)[index]!.id })
  }
}

/**
 * Refuses a call that a recorded permission allows, if the fork stopped following the record before the call began. The
 * permission was given to another run. False: the call may begin.
 */
export function withdrawn(d: DecisionBuilder, call: Call): boolean {
  const left = d.state.reuse?.left ?? null
  if (call.permission === undefined || left === null || left < call.argumentsRef.revision) return false
  const message = `the permission for ${call.toolName} was given to the run of the record; ask for one of this run`
  failCall(d, call, { code: 'PERMISSION_DENIED', rule: 'permission_of_record', message })
  return true
}
