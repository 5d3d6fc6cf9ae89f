import type { CliAgent } from '../../../adapters/agents/process/cli-agent.ts'
import { type AgentSample, backendCases } from '../../../adapters/agents/process/kit.ts'

/**
 * The checks of the kit that a backend fails, each as its name and what was seen; empty: it passes. A fake program plays the
 * sample, a recorded run of the real one, and hostile variations of it: half lines, floods, early ends, processes that it leaves
 * behind. It takes some seconds. {@link backendCases} has the same as single cases for a test runner.
 */
export async function checkAgent(agent: CliAgent, sample: AgentSample): Promise<string[]> {
  const faults: string[] = []
  for (const { name, check } of backendCases(agent, sample))
    await check().catch((fault: unknown) => faults.push(`${name}: ${fault instanceof Error ? fault.message : fault}`))
  return faults
}
