import type { CliAgent } from '../../../adapters/agents/process/cli-agent.ts'
import { type AgentSample, backendCases } from '../../../adapters/agents/process/kit.ts'

/**
 * Runs the kit's checks on a backend. Returns the name and the fault of each failed check; empty: it passes. A fake
 * program plays the sample, a recorded run of the real program, and hostile variations of it: incomplete lines, floods,
 * early ends, orphaned processes. Takes some seconds. {@link backendCases} gives the same checks as single cases for a
 * test runner.
 */
export async function checkAgent(agent: CliAgent, sample: AgentSample): Promise<string[]> {
  const faults: string[] = []
  for (const { name, check } of backendCases(agent, sample))
    await check().catch((fault: unknown) => faults.push(`${name}: ${fault instanceof Error ? fault.message : fault}`))
  return faults
}
