import { agentStatus } from '../../../cli/output/agent-status.ts'
import { dollars } from '../../../cli/output/units.ts'
import type { AgentThen } from '../../../operations/history/tree-at-schemas.ts'
import { jump } from '../../page/router.ts'
import { short } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import type { Node } from '../run-model.ts'

interface AgentButtonProps {
  readonly node: Node
  /** At the position of the page; null: that is the end. */
  readonly then: AgentThen | 'unborn' | null
  readonly chosen: boolean
}

/** One of the agents of a run: its role, and how it stands, with what it and those below it cost, or how it stood at the position. */
export function AgentButton({ node, then, chosen }: AgentButtonProps) {
  const { agentId, depth, role, backend, ungoverned, waiting, own, total } = node
  const asks =
    then === null && waiting.some((one) => one.for === 'approval' || one.for === 'doubt' || one.for === 'input')
  const money =
    own.nanoDollars === total.nanoDollars
      ? dollars(total.nanoDollars)
      : `${dollars(total.nanoDollars)}, own ${dollars(own.nanoDollars)}`
  return (
    <button
      type="button"
      class={then === 'unborn' ? 'plain future' : 'plain'}
      title={booksOf(node)}
      aria-current={chosen || undefined}
      onClick={() => jump({ agent: depth === 0 ? null : agentId, at: placeOf(then) })}
    >
      <span>
        <bdi>{shown(role ?? backend ?? short(agentId))}</bdi> {asks && <span class="badge">asks</span>}{' '}
        {ungoverned && <span class="badge">ungoverned</span>}
        {ungoverned && own.toolCalls > 0 && <span class="quiet"> but for {own.toolCalls} of keepup's tools</span>}
      </span>
      <span class="quiet">{then === null ? `${agentStatus(node)} · ${money}` : standing(then)}</span>
    </button>
  )
}

/** Its last event by the position; the first one where it is born later. */
const placeOf = (then: AgentButtonProps['then']): string | null =>
  then === null ? null : then === 'unborn' ? '0' : String(then.revision)

function standing(then: AgentThen | 'unborn'): string {
  if (then === 'unborn') return 'not yet born here'
  const { status, code, paused, turn, step } = then
  const how = code === 'CANCELLED' ? 'cancelled' : code !== null ? `${status}, ${code}` : status
  const place = step === null ? `turn ${turn}` : `turn ${turn}, step ${step}`
  return `${how}${paused ? ', paused' : ''} · ${place}`
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
