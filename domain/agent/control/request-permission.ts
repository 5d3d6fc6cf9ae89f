import { z } from 'zod'
import { approversOf } from '../../calls/approvers.ts'
import { PermissionScope } from '../../calls/events/permissions.ts'
import type { Right } from '../../calls/policy-engine.ts'
import { matches } from '../../calls/tools/tool-patterns.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import { instantText } from '../../log/instant.ts'
import { instantAfter } from '../../log/time-span.ts'
import type { AgentState } from '../state/state.ts'
import { controlTool, nonBlank } from './control-tool.ts'

const schema = z.strictObject({
  tool: nonBlank.describe('The tool that you need and may not call: its name, or "server:*".'),
  scope: PermissionScope.describe(
    'How far: "call" (your next call of it), "phase" (until you leave this phase) or "run".',
  ),
  until: nonBlank.describe(
    'When it ends at the latest: a span from the decision on such as "30m", "2h" or "1d", or an instant such as "2026-01-31T18:00:00Z".',
  ),
  reason: nonBlank.describe('What you need it for, for the person who decides.'),
})
type Input = z.infer<typeof schema>

/** Asks a person to lift a refusal of the policy (CONTRACTS 3). The call waits for the decision, like an approval. */
export const requestPermission = controlTool({
  name: 'request_permission',
  description:
    'Asks a person to let you call a tool that your policy or phase refuses. The call waits for the decision. Calls of the tool still ask for approval where they must.',
  schema,
  kind: 'continues',
  needsTools: true,
  approval: 'the agent asks for a tool that its policy refuses it',
  refusal: refusalOf,
  decide: (state, { reused }, { tool, scope, until, reason }) => {
    const end = instantAfter(until, state.at) ?? (reused ? state.at : null)
    if (end === null) {
      const message = 'the instant up to which the permission was asked for has passed; ask for a later one'
      return { events: [], end: { error: { code: 'APPROVAL_EXPIRED', message } } }
    }
    const instant = instantText(end)
    const bound = scope === 'phase' ? { phase: state.phase } : {}
    const far = { call: 'one call', phase: `phase "${state.phase}"`, run: 'this run' }[scope]
    return {
      events: [{ type: 'permission_granted', body: { tool, scope, until: instant, ...bound, reason } }],
      end: { content: `Granted: ${tool} for ${far}, until ${instant}.` },
    }
  },
})

function refusalOf(
  state: AgentState,
  { tool, scope, until }: Input,
  rightTo: (tool: ToolSpec) => Right,
): string | null {
  const meant = state.spec.tools.filter(({ name }) => matches(tool, name))
  if (tool === '*') return 'tool: name one tool, or the tools of one server as "server:*"'
  if (meant.length === 0) return `tool: this run has no tool "${tool}"`
  const rights = meant.map(rightTo)
  if (rights.every((right) => right === 'call')) return `tool: you may call ${tool} as it is`
  const several = meant.find(({ name, effect }) => approversOf(state, { toolName: name, effect }) !== null)
  if (!rights.includes('ask') && several !== undefined)
    return `tool: several people must approve ${several.name}, so no permission of one person covers it; do without it`
  if (!rights.includes('ask'))
    return `tool: the agent that started you has not given you ${tool}, and you have at most its rights; do without it, or say so in your result`
  if (scope === 'phase' && state.spec.role === null) return 'scope: this run has no phases; use "call" or "run"'
  if (instantAfter(until, state.at) === null)
    return 'until: expected a span such as "30m", "2h" or "1d", or an instant to come such as "2026-01-31T18:00:00Z", within 100 days'
  return null
}
