import type { Call } from '../../calls/call.ts'
import type { ToolMeaning, ToolSpec } from '../../calls/tools/tool-spec.ts'
import { canonicalText } from '../../log/canonical.ts'
import { type AgentState, callsOf } from '../state/state.ts'

/** The members of a tool that an approval covers, as words. */
const MEANING = {
  description: 'description',
  parameters: 'parameters',
  effect: 'effect',
  definitionHash: 'output schema, annotations or metadata',
} as const

type Meaning = Pick<ToolSpec, keyof typeof MEANING>

/** The changed members of a tool, as words; empty: none. */
export const changedIn = (known: Meaning, now: Meaning): string[] =>
  (Object.keys(MEANING) as (keyof Meaning)[]).flatMap((member) =>
    canonicalText(now[member] ?? null) === canonicalText(known[member] ?? null) ? [] : [MEANING[member]],
  )

/**
 * The recorded members of an external tool. A reconcilable tool becomes irreversible, because no probe is available.
 */
export const meaningOf = ({ description, parameters, effect, definitionHash }: Meaning): ToolMeaning => ({
  ...{ description, parameters },
  ...(definitionHash === undefined ? {} : { definitionHash }),
  effect: effect === 'reconcilable' ? 'irreversible' : effect,
})

/**
 * Calls that wait for an approval of a tool that the offered tools define differently, each with the new definition.
 */
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
