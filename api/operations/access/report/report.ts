import type { z } from 'zod'
import { agentOfCall } from '../../../../domain/agent/runtime/history/results.ts'
import { notFound } from '../../problem.ts'
import { runOfAgent } from '../../runs/run-of-agent.ts'
import type { Services } from '../../services.ts'
import { reportOfLog } from './log-report.ts'
import { reportOfRun } from './run-report.ts'
import type { AccessReport, ReportQuery } from './schemas.ts'

/** The report on a run, on a call, or on the whole log. Includes the uses of the last minute. */
export async function accessReport(
  s: Services,
  { run, call, ...span }: z.output<typeof ReportQuery>,
): Promise<z.input<typeof AccessReport>> {
  await s.uses.record()
  await s.read.caughtUp()
  const { position } = await s.read.rows(async () => null)
  const target = run ?? (call === undefined ? undefined : await runOfCall(s, call))
  if (target === undefined) return { position, run: null, log: await reportOfLog(s, span) }
  return { position, run: await reportOfRun(s, target, call), log: null }
}

async function runOfCall(s: Services, call: string): Promise<string> {
  const agentId = agentOfCall(call)
  if (agentId === null) throw notFound('tool call', call, 'an id looks like <agent>.t<turn>.c<index>')
  return runOfAgent(s, agentId)
}
