import { redactedSandbox } from '../../../calls/runtime/redact-result.ts'
import type { Environment } from '../../../ports/runtime.ts'
import type { QualityGate } from '../../../tree/spec.ts'
import { GATE_MS } from '../../definition/roles.ts'
import { commandGateVerdict } from '../../rules/command-gate.ts'

/** The time limit of a gate's command, in ms. */
export const gateLimitMs = ({ timeoutMs = GATE_MS }: Pick<QualityGate, 'timeoutMs'>): number => timeoutMs

/** Runs the command of a gate in the run's sandbox, without network. The output is the evidence. */
export async function runGateCommand(
  env: Environment,
  gate: QualityGate & { readonly argv: readonly string[] },
  signal: AbortSignal,
): Promise<{ passed: boolean; evidence: string }> {
  if (env.sandbox === null)
    return { passed: false, evidence: 'the run has no workspace in which its command could run' }
  const command = { argv: gate.argv, cwd: '.', timeoutMs: gateLimitMs(gate), network: false }
  const end = await redactedSandbox(env.sandbox, env.secrets).exec(command, signal)
  return commandGateVerdict(command, end)
}
