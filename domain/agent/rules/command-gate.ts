import { quoteCommand } from '../../calls/command-line.ts'
import { headAndTail } from '../../calls/truncate.ts'

export interface GateCommandEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly stdout: string
  readonly stderr: string
}

/** The part of a command's output that an event keeps as evidence, in bytes. */
const EVIDENCE_BYTES = 4_096

/** Whether a command gate passes (exit code 0, no timeout), with the command's output as evidence. */
export function commandGateVerdict(
  { argv, timeoutMs }: { readonly argv: readonly string[]; readonly timeoutMs: number },
  end: GateCommandEnd,
): { passed: boolean; evidence: string } {
  const how = end.timedOut
    ? `was ended at its time limit of ${timeoutMs} ms`
    : end.exitCode === null
      ? `was ended by ${end.signal ?? 'a signal'}`
      : `ended with exit code ${end.exitCode}`
  const output = [end.stdout, end.stderr].map((text) => text.trim()).filter((text) => text !== '')
  const shown = headAndTail(output.join('\n'), EVIDENCE_BYTES, () => 'the command wrote more')
  const passed = end.exitCode === 0 && !end.timedOut
  return { passed, evidence: `"${quoteCommand(argv)}" ${how}${shown === '' ? '' : `:\n${shown}`}` }
}
