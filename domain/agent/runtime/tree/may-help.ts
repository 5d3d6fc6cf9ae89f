import { agentStream } from '../../../log/ids.ts'
import type { RuntimePorts } from '../../../ports/runtime.ts'
import { firstOf } from '../../../stream/runtime/history.ts'
import { agent } from '../../decide/aggregate.ts'

/** Whether a process without the run's lease can drive some agents of the run. */
export async function mayHelp(ports: RuntimePorts, runId: string): Promise<boolean> {
  const first = await firstOf(ports, agent, agentStream(runId))
  if (first?.type !== 'agent_started') return false
  const { delegation, workspace } = first.body.spec
  return delegation !== undefined && workspace === null
}
