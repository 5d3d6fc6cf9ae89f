import { agentStatus } from '../../../cli/agent-status.ts'
import { dollars } from '../../../cli/output/units.ts'
import { setQuery } from '../../page/router.ts'
import { short } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import type { Node } from '../run-model.ts'

/** One of the agents of a run: its role, how it stands, and what it and those below it cost. */
export function AgentButton({ node, chosen }: { node: Node; chosen: boolean }) {
  const { agentId, depth, role, backend, ungoverned, waiting, own, total } = node
  const asks = waiting.some((one) => one.for === 'approval' || one.for === 'doubt' || one.for === 'input')
  const money =
    own.nanoDollars === total.nanoDollars
      ? dollars(total.nanoDollars)
      : `${dollars(total.nanoDollars)}, own ${dollars(own.nanoDollars)}`
  return (
    <button
      type="button"
      class="plain"
      title={booksOf(node)}
      aria-current={chosen || undefined}
      onClick={() => setQuery({ agent: depth === 0 ? null : agentId, at: null })}
    >
      <span>
        <bdi>{shown(role ?? backend ?? short(agentId))}</bdi> {asks && <span class="badge">asks</span>}{' '}
        {ungoverned && <span class="badge">ungoverned</span>}
      </span>
      <span class="quiet">
        {agentStatus(node)} · {money}
      </span>
    </button>
  )
}

/** What an agent was given and has taken, for a title; empty where nothing limits it. */
function booksOf({ agentId, budget }: Node): string {
  if (budget === null) return agentId
  const { tokens, nanoDollars, agents } = budget
  const of = (name: string, { given, spent, reserved }: typeof tokens, unit: (n: number) => string) =>
    given === null
      ? ''
      : `${name}: ${unit(spent)} of ${unit(given)}${reserved > 0 ? `, ${unit(reserved)} reserved` : ''}`
  const count = (n: number) => n.toLocaleString('en')
  const limits = [of('tokens', tokens, count), of('money', nanoDollars, dollars), of('agents', agents, count)]
  return [agentId, ...limits].filter(Boolean).join('\n')
}
