import type { Services } from '../services.ts'
import { checkAgents } from './agents.ts'
import { checkBackup } from './backup.ts'
import { checkConsumers } from './consumers.ts'
import { bad, type Finding, message } from './finding.ts'
import { checkHeads } from './heads.ts'
import { checkLog } from './log.ts'
import { checkModels } from './models.ts'
import { checkRetention } from './retention.ts'
import { checkRows } from './rows.ts'
import { checkTables } from './tables.ts'
import { checkTelemetry } from './telemetry.ts'
import { checkWebhooks } from './webhooks.ts'
import { checkWork, watchLoop } from './work.ts'

/** Checks of what this process has opened. The name is that of the finding if a check cannot be made. */
const CHECKS: Readonly<Record<string, (s: Services) => Promise<Finding[]>>> = {
  tables: checkTables,
  webhooks: checkWebhooks,
  telemetry: checkTelemetry,
  consumers: checkConsumers,
  rows: checkRows,
  'signed heads': checkHeads,
  retention: checkRetention,
  backup: checkBackup,
  models: checkModels,
  agents: checkAgents,
}

const TODO = 'do what the message says'

/** Examines the log, the tables and all other parts of an open process, in the order in which a person would look. */
export async function examine(s: Services): Promise<Finding[]> {
  const loopSeen = watchLoop()
  const { log, tables } = await s.ready()
  const findings = checkWork(s)
  if (log !== null && log.state !== 'shortened') findings.push(bad('broken', 'log', log.why, TODO))
  else findings.push(...(await checkLog(s)))
  if (tables !== null) findings.push(bad('broken', 'tables', tables.why, TODO))
  // Every other check reads the log or the tables.
  const isSilent = findings.some(({ check, state }) => ['log', 'tables'].includes(check) && state === 'broken')
  for (const [name, check] of isSilent ? [] : Object.entries(CHECKS))
    findings.push(...(await check(s).catch((error: unknown) => [bad('warning', name, message(error), TODO)])))
  return [...findings, loopSeen()]
}

/**
 * The findings about the machine, then those about the open parts. A check that was made of the machine is not
 * repeated, and rows of damaged tables are left out, because they differ in any case.
 */
export function joined(machine: readonly Finding[], parts: readonly Finding[]): Finding[] {
  const made = new Set(machine.map(({ check }) => check))
  const isDamaged = machine.some(({ check, state }) => check === 'tables' && state !== 'ok')
  const ofTables = ['rows', 'signed heads', 'retention']
  return [...machine, ...parts.filter(({ check }) => !made.has(check) && !(isDamaged && ofTables.includes(check)))]
}
