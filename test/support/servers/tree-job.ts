import type { ScriptInput } from '../../../adapters/models/scripted/script.ts'
import type { KeepUp } from '../../../api/index.ts'
import { agentAt } from '../../../domain/agent/runtime/history/replay.ts'
import { totals } from '../../../domain/agent/state/budget-account.ts'
import { isFinished } from '../../../domain/agent/state/state.ts'
import { undelivered } from '../../../domain/courier/ledger.ts'
import { unsalted } from '../../../domain/log/seal.ts'

/** Children of each agent above the leaves: 3 gives 40 agents at depths 0 to 3. */
export const WIDTH = Number(process.env.KEEPUP_TREE_WIDTH ?? 3)
/** Each leaf writes one line. */
export const LEAVES = WIDTH ** 3
const AGENTS = 1 + WIDTH + WIDTH ** 2 + LEAVES

/** The task of each tree's root. */
export const TREE_TASK = 'Grow'

const call = (tool: string, args: Record<string, string>) => ({ tool, arguments: args })
const done = { delayMs: 20, calls: [call('complete_task', { summary: 'Done.' })] }
const delegates = (task: string) => ({
  delayMs: 20,
  calls: Array.from({ length: WIDTH }, (_, n) => call('delegate_to_agent', { role: 'coder', task: `${task} ${n}` })),
})
const leaves = { delayMs: 20, calls: [call('fx__append', {})] }

/** A scripted model that selects each agent's answers by its task. */
export const treeScript: ScriptInput = {
  script: 1,
  turns: [delegates('first'), done],
  parts: [
    { name: 'first', when: { firstInputContains: 'first' }, turns: [delegates('second'), done] },
    { name: 'second', when: { firstInputContains: 'second' }, turns: [delegates('leaf'), done] },
    { name: 'leaf', when: { firstInputContains: 'leaf' }, turns: [leaves, done] },
  ],
}

/** Starts a tree for any driver. Its coders may use the test's tool in their only phase. */
export async function startTree({ services }: Pick<KeepUp, 'services'>, runId: string): Promise<void> {
  const policy = { mode: 'batch' } as const
  const spec = await services.starts.prepare({
    task: TREE_TASK,
    model: 'scripted:tree',
    delegation: {},
    policy,
    drive: true,
  })
  const coder = {
    ...{ name: 'Hand', profile: 'leaves lines', goal: 'leave them', qualityGates: [], maxReactLoop: 8 },
    phases: [{ name: 'work', allowedTools: ['fx:append'] }],
  }
  const delegation = { ...spec.delegation!, roles: { coder } }
  const start = { kind: 'start', spec: { ...spec, delegation }, task: TREE_TASK, drive: true } as const
  await services.runtime.execute(runId, start, { by: { kind: 'user', id: 'test' } })
}

/** How often each agent of a run was born, by its parent's record and by its own. */
interface Tree {
  readonly births: Map<string, number>
  readonly starts: Map<string, number>
}

/** The agents of each run. */
export async function readTrees({ log }: KeepUp['services']): Promise<ReadonlyMap<string, Tree>> {
  const trees = new Map<string, Tree>()
  const add = (to: Map<string, number>, key: string) => to.set(key, (to.get(key) ?? 0) + 1)
  for await (const page of log.readAll(null))
    for (const { header, body } of page) {
      const { type, runId = '', agentId = '' } = header
      if (type !== 'child_delegated' && type !== 'agent_started') continue
      const tree = trees.get(runId) ?? { births: new Map(), starts: new Map() }
      trees.set(runId, tree)
      if (type === 'agent_started') add(tree.starts, agentId)
      else add(tree.births, JSON.parse(new TextDecoder().decode(unsalted(body!))).childId)
    }
  return trees
}

/** The faults of an ended tree: in its agents, their ends, their obligations and their budgets. */
export async function faultsOfTree(
  { services }: Pick<KeepUp, 'services'>,
  runId: string,
  trees?: ReadonlyMap<string, Tree>,
): Promise<string[]> {
  const wrong: string[] = []
  const { births, starts } = (trees ?? (await readTrees(services))).get(runId)!
  if (starts.size !== AGENTS) wrong.push(`${runId} has ${starts.size} agents instead of ${AGENTS}`)
  for (const [id, times] of [...births, ...starts]) if (times !== 1) wrong.push(`${id} was born ${times} times`)
  const states = await Promise.all([...starts.keys()].map(async (id) => (await agentAt(services, id, null)).state))
  for (const state of states) {
    const { agentId } = state
    if (!isFinished(state)) wrong.push(`${agentId} is ${state.machine.status}`)
    if (undelivered(state).length > 0) wrong.push(`${agentId} owes ${JSON.stringify(undelivered(state))}`)
    const below = states.filter(
      ({ agentId: id, parent }) => id === agentId || parent?.ancestors?.concat(parent.agentId).includes(agentId),
    )
    const sum = below.reduce((all, one) => all + one.spent.output, 0)
    if (totals(state).spent.output !== sum) wrong.push(`${agentId} has ${totals(state).spent.output} of ${sum} tokens`)
    const { ok, problems } = await services.runtime.verify(agentId)
    if (!ok) wrong.push(`${agentId}: ${JSON.stringify(problems)}`)
  }
  return wrong
}

/**
 * The result that must not depend on crashes: each agent's place in the tree, its end, and its model's last messages.
 */
export async function shapeOfTree({ services }: Pick<KeepUp, 'services'>, runId: string): Promise<string[]> {
  const ids = new Set<string>()
  for await (const page of services.log.readAll(null, { bodies: false }))
    for (const { header } of page) if (header.runId === runId && header.agentId !== undefined) ids.add(header.agentId)
  const all = await Promise.all([...ids].map((id) => agentAt(services, id, null)))
  const byId = new Map(all.map((one) => [one.state.agentId, one]))
  const place = (agentId: string): string => {
    const { parent } = byId.get(agentId)!.state
    if (parent === null) return 'root'
    return `${place(parent.agentId)} ${parent.toolCallId.slice(parent.agentId.length + 1)}`
  }
  return all
    .map(({ state, messages }) => {
      const { status, code = '' } = state.machine as { status: string; code?: string }
      return `${place(state.agentId)}: ${status} ${code} turn ${state.turn}, ${messages.length} messages`
    })
    .sort()
}
