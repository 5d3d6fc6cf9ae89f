import type { z } from 'zod'
import { OTLP } from '../../../domain/external/reported/backend.ts'
import type { AgentNode, RunTree } from '../../operations/runs/schemas.ts'
import { agentStatus } from './agent-status.ts'
import { type Column, table } from './table.ts'
import { dollars } from './units.ts'

type Agent = z.infer<typeof AgentNode>
type Recorded = RunTree['recorded'][number]

/** The tree of a run as a table: one line per agent, below its parent. */
export function treeLines({ agents, recorded }: RunTree, width: number | null): string[] {
  const drawn = branches(agents)
  const rows = agents.map((agent, nth) => ({ agent, branch: drawn[nth]! }))
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'AGENT', of: ({ agent }) => nameOf(agent), indent: ({ branch }) => branch },
    { title: 'STATUS', of: ({ agent }) => agentStatus(agent) },
    { title: 'TURN', of: ({ agent }) => agent.turn, side: 'right' },
    { title: 'OWN', of: ({ agent }) => dollars(agent.own.nanoDollars), side: 'right' },
    { title: 'TOTAL', of: ({ agent }) => dollars(agent.total.nanoDollars), side: 'right' },
    { title: 'RESERVED', of: ({ agent }) => books(agent, 'reserved'), side: 'right', optional: true },
    { title: 'UNCERTAIN', of: ({ agent }) => books(agent, 'uncertain'), side: 'right', optional: true },
    { title: 'ID', of: ({ agent }) => agent.agentId },
  ]
  return [...table(rows, columns, width), ...recorded.map(recordedLine)]
}

const nameOf = ({ role, backend, ungoverned, own }: Agent): string =>
  ungoverned
    ? `${role ?? 'agent'} (${backend}, ungoverned${backend === OTLP ? '' : callsOf(own.toolCalls)})`
    : (role ?? 'agent')

/** An external agent's calls of keepup's tools. These are governed. */
const callsOf = (calls: number): string =>
  calls === 0 ? '' : ` but for ${calls} ${calls === 1 ? 'call' : 'calls'} of keepup's tools`

const books = ({ budget }: Agent, which: 'reserved' | 'uncertain'): string =>
  budget === null ? '?' : budget.nanoDollars[which] === 0 ? '' : dollars(budget.nanoDollars[which])

const recordedLine = ({ agentId, role, status, code, runId }: Recorded): string =>
  `as ${runId} recorded it: ${role ?? 'agent'} ${status}${code === null ? '' : `, ${code}`}, ${agentId}`

/** The branch lines from each agent's parent to its name. */
function branches(agents: readonly Agent[]): string[] {
  const last = new Set(
    agents.filter(({ parentId }, nth) => !agents.slice(nth + 1).some((later) => later.parentId === parentId)),
  )
  const byId = new Map(agents.map((agent) => [agent.agentId, agent]))
  const lead = (agent: Agent): string => {
    const parent = byId.get(agent.parentId ?? '')
    if (parent === undefined) return ''
    return byId.has(parent.parentId ?? '') ? `${lead(parent)}${last.has(parent) ? '   ' : '│  '}` : ''
  }
  return agents.map((agent) =>
    byId.has(agent.parentId ?? '') ? `${lead(agent)}${last.has(agent) ? '└─ ' : '├─ '}` : '',
  )
}
