import { z } from 'zod'
import { recordApproval } from '../approvals/decide.ts'
import { CommandHeaders } from '../headers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation } from '../operation.ts'
import { Id, Recorded } from '../schemas.ts'
import { permissionsOf } from './permissions-of.ts'
import { PermissionList, RevokeBody } from './schemas.ts'

/** The permissions of an agent, and their revocation by people. */
export const PERMISSION_OPERATIONS = [
  operation({
    name: 'listPermissions',
    http: 'GET /v1/runs/{id}/permissions',
    right: 'runs.read',
    summary: 'What people have permitted an agent beyond its policy, as far as it is in force',
    input: { params: z.object({ id: Id }), query: z.strictObject({ agent: Id.optional() }) },
    output: PermissionList,
    answers: { 200: 'The permissions' },
    run: async (s, { params: { id }, query: { agent: agentId = id } }) => {
      const { state } = await s.runtime.at(agentId, null)
      return { runId: state.runId, agentId, permissions: permissionsOf(state) }
    },
  }),
  operation({
    name: 'revokePermission',
    http: 'POST /v1/permissions/{toolCallId}/revoke',
    right: 'runs.decide',
    summary: 'Take a permission back: later calls of the tool are refused again, calls at work finish',
    input: { params: z.object({ toolCallId: Id }), headers: CommandHeaders, body: RevokeBody },
    output: Recorded,
    answers: { 200: 'Recorded' },
    revision: ({ revision }) => revision,
    run: (s, { params, body: { by, ...why } }, { options }) =>
      recordApproval(s, { kind: 'revoke_permission', ...params, ...omitUndefined(why) }, by, options),
  }),
] as const
