import { canonicalText } from '../../log/canonical.ts'
import type { ToolMeaning, ToolSpec } from '../definition/tools.ts'
import { type AgentState, type Call, callsOf } from '../state/state.ts'

/** The members that a person approves, each in words. */
const MEANING = {
  description: 'description',
  parameters: 'parameters',
  effect: 'effect',
  definitionHash: 'output schema, annotations or metadata',
} as const

type Meaning = Pick<ToolSpec, keyof typeof MEANING>

/** How a tool differs from the known one, in words; empty where it is the same tool. */
export const changedIn = (known: Meaning, now: Meaning): string[] =>
  (Object.keys(MEANING) as (keyof Meaning)[]).flatMap((member) =>
    canonicalText(now[member] ?? null) === canonicalText(known[member] ?? null) ? [] : [MEANING[member]],
  )

/** What is recorded of a tool from outside of keepup: no probe tells of its calls. */
export const meaningOf = ({ description, parameters, effect, definitionHash }: Meaning): ToolMeaning => ({
  ...{ description, parameters },
  ...(definitionHash === undefined ? {} : { definitionHash }),
  effect: effect === 'reconcilable' ? 'irreversible' : effect,
})

/** The calls that wait for a person's approval of a tool which these tools replace by another one, each with that one. */
export function outdatedApprovals(
  state: AgentState,
  offered: readonly ToolSpec[],
): { readonly call: Call; readonly now: ToolMeaning; readonly changed: readonly string[] }[] {
  return callsOf(state).flatMap((call) => {
    const [known, found] = [state.spec.tools, offered].map((tools) => tools.find(({ name }) => name === call.toolName))
    if (call.stage.at !== 'approval' || known === undefined || found === undefined) return []
    const now = meaningOf(found)
    const changed = changedIn(known, now)
    return changed.length === 0 ? [] : [{ call, now, changed }]
  })
}
